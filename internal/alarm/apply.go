package alarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ebscope/internal/cloud"
	"ebscope/internal/fleet"
)

// Account is what alarms are made and deleted in. It looks at an alarm's tag before it changes one; cloud.Account is one.
type Account interface {
	Identity(ctx context.Context) (fleet.AccountID, error)
	// Alarms returns the alarms of a region that carry ebscope's tag.
	Alarms(ctx context.Context, region string) ([]fleet.Alarm, error)
	PutAlarm(ctx context.Context, region string, a fleet.Alarm) error
	DeleteAlarms(ctx context.Context, region string, names []string) error
}

// AccountError says that the credentials open another account than the plan's.
type AccountError struct{ Plan, Credentials fleet.AccountID }

func (e *AccountError) Error() string {
	return fmt.Sprintf("the plan is for account %s, and the credentials open %s: set AWS_PROFILE to one of the plan's account", e.Plan, e.Credentials)
}

// Done is what was done about an alarm, or why it was not.
type Done struct {
	Region string `json:"region"`
	Name   string `json:"name"`
	Deed   Deed   `json:"result"`
	Error  string `json:"error,omitempty"`
}

// Deed is what was done.
type Deed string

// The deeds.
const (
	Created   Deed = "created"
	Updated   Deed = "updated"
	Deleted   Deed = "deleted"
	Unchanged Deed = "unchanged" // it was as the plan wants it, or gone already
	Failed    Deed = "failed"
	Untried   Deed = "not tried" // after a failure that would meet them all
)

// deletions are made together, as AWS takes them.
const deletions = 100

// Apply makes the alarms of an account as a plan wants them, and tells of each. It goes by what is there now: what is
// already so is left alone, so that a second time changes nothing, and one that was cut short is simply done again. What
// fails does not keep the rest from being done; the errors come together.
func Apply(ctx context.Context, account Account, p *Plan, tell func(Done)) error {
	who, err := account.Identity(ctx)
	if err != nil {
		return err
	}
	if other := p.otherAccount(who); other != "" {
		return &AccountError{other, who}
	}
	var errs []error
	for _, region := range p.regions() {
		a := applier{account: account, region: region, tell: tell}
		errs = append(errs, a.apply(ctx, p)...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(errs...)
}

// otherAccount returns an account of the plan that is not the one; empty where there is none.
func (p *Plan) otherAccount(who fleet.AccountID) fleet.AccountID {
	for i := range p.Alarms {
		if p.Alarms[i].Account != who {
			return p.Alarms[i].Account
		}
	}
	for i := range p.Delete {
		if p.Delete[i].Account != who {
			return p.Delete[i].Account
		}
	}
	return ""
}

func (p *Plan) regions() []string {
	var all []string
	for i := range p.Alarms {
		all = append(all, p.Alarms[i].Region)
	}
	for i := range p.Delete {
		all = append(all, p.Delete[i].Region)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// applier works on one region.
type applier struct {
	account Account
	region  string
	tell    func(Done)
	errs    []error
	// barred is set by a failure that everything else in the region would meet.
	barred error
}

func (a *applier) apply(ctx context.Context, p *Plan) []error {
	there := map[string]*fleet.Alarm{}
	found, err := a.account.Alarms(ctx, a.region)
	if err != nil {
		a.barred = err
		a.errs = append(a.errs, err)
	}
	for i := range found {
		there[found[i].Name] = &found[i]
	}
	var gone []string
	for i := range p.Delete {
		if p.Delete[i].Region == a.region {
			gone = append(gone, p.Delete[i].Name)
		}
	}
	a.remove(ctx, gone, there)                   // first: it makes room under the account's quota
	for _, exists := range []bool{true, false} { // what is there needs no room
		for i := range p.Alarms {
			if w := &p.Alarms[i]; w.Region == a.region && (there[w.Alarm.Name] != nil) == exists {
				a.put(ctx, &w.Alarm, there)
			}
		}
	}
	return a.errs
}

// remove deletes those of the named alarms that are there and ebscope's.
func (a *applier) remove(ctx context.Context, names []string, there map[string]*fleet.Alarm) {
	var ours []string
	for _, name := range names {
		if a.barred == nil && there[name] == nil {
			a.done(name, Unchanged)
			continue
		}
		ours = append(ours, name)
	}
	for some := range slices.Chunk(ours, deletions) {
		if a.stopped(ctx, some...) {
			continue
		}
		err := a.account.DeleteAlarms(ctx, a.region, some)
		if err != nil && ctx.Err() == nil {
			a.fail(err, some...)
			continue
		}
		for _, name := range some {
			if err == nil {
				a.done(name, Deleted)
			}
		}
	}
}

func (a *applier) put(ctx context.Context, wanted *fleet.Alarm, there map[string]*fleet.Alarm) {
	if a.stopped(ctx, wanted.Name) {
		return
	}
	now, put := there[wanted.Name], *wanted
	if now != nil {
		if put = keeping(now, wanted); Same(now, &put) {
			a.done(wanted.Name, Unchanged)
			return
		}
	}
	err := a.account.PutAlarm(ctx, a.region, put)
	switch {
	case ctx.Err() != nil: // told as interrupted; whether it was made, the next time sees
	case err != nil:
		a.fail(err, wanted.Name)
	case now == nil:
		a.done(wanted.Name, Created)
	default:
		a.done(wanted.Name, Updated)
	}
}

// stopped says whether nothing more is to be tried, and tells so.
func (a *applier) stopped(ctx context.Context, names ...string) bool {
	if ctx.Err() != nil {
		return true
	}
	if a.barred != nil {
		for _, name := range names {
			a.tell(Done{a.region, name, Untried, ""})
		}
	}
	return a.barred != nil
}

func (a *applier) done(name string, deed Deed) { a.tell(Done{a.region, name, deed, ""}) }

func (a *applier) fail(err error, names ...string) {
	a.errs = append(a.errs, err)
	if bars(err) {
		a.barred = err
	}
	for _, name := range names {
		a.tell(Done{a.region, name, Failed, err.Error()})
	}
}

// bars says whether an error would meet every further alarm of the region as well.
func bars(err error) bool {
	for _, all := range []error{cloud.ErrDenied, cloud.ErrInvalid, cloud.ErrQuota, cloud.ErrThrottled, cloud.ErrUnreachable, cloud.ErrNotEnabled} {
		if errors.Is(err, all) {
			return true
		}
	}
	return false
}

// Ours returns the alarms of a region that carry ebscope's tag, in the order of their names.
func Ours(ctx context.Context, account Account, region string) ([]fleet.Alarm, error) {
	found, err := account.Alarms(ctx, region)
	slices.SortFunc(found, func(x, y fleet.Alarm) int { return cmp.Compare(x.Name, y.Name) })
	return found, err
}

// Delete deletes those of the named alarms of a region that are ebscope's, all where none is named, and tells of each.
func Delete(ctx context.Context, account Account, region string, names []string, tell func(Done)) error {
	found, err := Ours(ctx, account, region)
	if err != nil {
		return err
	}
	there := map[string]*fleet.Alarm{}
	var all []string
	for i := range found {
		there[found[i].Name] = &found[i]
		all = append(all, found[i].Name)
	}
	if len(names) > 0 {
		all = names
	}
	a := applier{account: account, region: region, tell: tell}
	a.remove(ctx, all, there)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(a.errs...)
}
