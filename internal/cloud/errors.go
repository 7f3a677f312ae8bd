package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"ebscope/internal/fleet"
	"ebscope/internal/lazy"
)

// What keeps AWS from answering, or from doing. Errors of this package wrap one of these where they can.
var (
	ErrNoCredentials  = errors.New("no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with `aws sso login`")
	ErrNoRegion       = errors.New("no AWS region: name one, or set AWS_REGION")
	ErrDenied         = errors.New("AWS denies it")
	ErrInvalid        = errors.New("AWS does not accept the credentials: they are wrong or have expired")
	ErrThrottled      = errors.New("AWS answers too many requests just now: try again in a minute")
	ErrUnreachable    = errors.New("AWS cannot be reached")
	ErrUnknownType    = errors.New("AWS has no such instance type in the region")
	ErrUnknownRegion  = errors.New("AWS has no prices for the region")
	ErrNotEnabled     = errors.New("the region is not enabled for the account")
	ErrNoVolume       = errors.New("the volume does not exist: it was deleted, or lies in another region or account")
	ErrBusy           = errors.New("the volume is being modified, or in a state in which it cannot be")
	ErrTooOften       = errors.New("the volume was modified 4 times within 24 hours, which is the most that AWS allows")
	ErrRefused        = errors.New("AWS does not accept the setting")
	ErrQuota          = errors.New("a quota of the account is used up: ask AWS to raise it")
	ErrNoKey          = errors.New("the key that encrypts the volume cannot be used: it was deleted or disabled, or may not be used")
	ErrUncertain      = errors.New("whether it was done is not known: the answer was lost")
	ErrForeignAlarm   = errors.New("the alarm does not carry the tag of ebscope: it is somebody else's and stays as it is")
	errUnexpectedForm = errors.New("the answer of AWS has an unexpected form")
)

// sentinels are the error codes of all services by what they mean.
var sentinels = map[string]error{
	"UnauthorizedOperation": ErrDenied, "AccessDeniedException": ErrDenied, "AccessDenied": ErrDenied, "OptInRequired": ErrDenied,
	"AuthFailure": ErrInvalid, "InvalidClientTokenId": ErrInvalid, "UnrecognizedClientException": ErrInvalid,
	"InvalidSignatureException": ErrInvalid, "SignatureDoesNotMatch": ErrInvalid, "ExpiredToken": ErrInvalid,
	"ExpiredTokenException": ErrInvalid, "RequestExpired": ErrInvalid, "RequestTimeTooSkewed": ErrInvalid,
	"RequestLimitExceeded": ErrThrottled, "Throttling": ErrThrottled, "ThrottlingException": ErrThrottled,
	"InvalidInstanceType":    ErrUnknownType,
	"InvalidVolume.NotFound": ErrNoVolume, "InvalidVolumeID.Malformed": ErrNoVolume,
	"IncorrectModificationState": ErrBusy, "IncorrectState": ErrBusy,
	"VolumeModificationRateExceeded": ErrTooOften,
	"InvalidParameterValue":          ErrRefused, "InvalidParameterCombination": ErrRefused, "InvalidParameter": ErrRefused, "UnsupportedOperation": ErrRefused,
	"ValidationError":                     ErrRefused,
	"VolumeModificationSizeLimitExceeded": ErrQuota, "MaxIOPSLimitExceeded": ErrQuota, "VolumeIOPSLimit": ErrQuota, "LimitExceeded": ErrQuota,
	"KMSKeyNotAccessibleException": ErrNoKey, "InvalidKmsKey.InvalidState": ErrNoKey,
}

// RateError is ErrTooOften with what AWS says of it.
type RateError struct {
	Volume fleet.VolumeID
	// Until is when the volume can be modified again; zero where AWS does not say.
	Until   time.Time
	Message string
}

func (e *RateError) Error() string {
	if e.Until.IsZero() {
		return fmt.Sprintf("volume %s: %v (%s)", e.Volume, ErrTooOften, e.Message)
	}
	return fmt.Sprintf("volume %s: %v: it can be modified again at %s", e.Volume, ErrTooOften, e.Until.UTC().Format(time.RFC3339))
}

func (e *RateError) Unwrap() error { return ErrTooOften }

var timeInText = lazy.Regexp(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?UTC|[+-]\d\d:?\d\d)?`)

// timeIn finds a time in a message. What names no zone is in UTC, as all times of the API are.
func timeIn(message string) time.Time {
	text := timeInText().FindString(message)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// meaning adds to an error of the SDK the sentinel for it.
func meaning(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		if sentinel, ok := sentinels[api.ErrorCode()]; ok {
			return fmt.Errorf("%w%s (%s: %s)", sentinel, permission(sentinel, err), api.ErrorCode(), api.ErrorMessage())
		}
		return err
	}
	var unreachable net.Error
	if errors.As(err, &unreachable) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// permission says what is missing where AWS denies something: IAM calls a permission by its service and operation.
func permission(sentinel, err error) string {
	var operation *smithy.OperationError
	if !errors.Is(sentinel, ErrDenied) || !errors.As(err, &operation) {
		return ""
	}
	return fmt.Sprintf(": the permission %s:%s is needed", strings.ToLower(operation.Service()), operation.Operation())
}

// codeOf returns AWS's code of an error, "" where it did not come from AWS.
func codeOf(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// mayBeDone says whether a request that failed may have been carried out all the same. It was not where AWS refused it, or
// where no connection came about.
func mayBeDone(err error) bool {
	if codeOf(err) != "" {
		var answer *smithyhttp.ResponseError
		if errors.Is(sentinels[codeOf(err)], ErrThrottled) {
			return false
		}
		return errors.As(err, &answer) && answer.HTTPStatusCode() >= http.StatusInternalServerError
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return false
	}
	var build *smithy.SerializationError
	return !errors.As(err, &build)
}

// missing is the entry for something that could not be read.
func missing(account fleet.AccountID, region, operation string, err error) fleet.Missing {
	m := fleet.Missing{Account: account, Region: region, Operation: operation, Reason: fleet.Failed, Text: err.Error()}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		m.Reason, m.Text = fleet.Interrupted, "reading was ended before it was done"
	case errors.Is(err, ErrNotEnabled):
		m.Reason = fleet.Disabled
	case errors.Is(err, ErrInvalid):
		// The credentials were good enough for AWS to name their account.
		m.Reason, m.Text = fleet.Disabled, fmt.Sprintf("%v: enable it, or name the regions that are meant (%v)", ErrNotEnabled, err)
	case errors.Is(err, ErrDenied):
		m.Reason = fleet.Denied
	case errors.Is(err, ErrThrottled):
		m.Reason = fleet.Throttled
	case errors.Is(err, ErrUnreachable):
		m.Reason = fleet.Unreachable
	}
	return m
}
