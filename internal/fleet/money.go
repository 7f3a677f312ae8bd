package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ebscope/internal/cost"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

// Money is an exact amount of money, in units of 10⁻⁸ USD: no price of AWS is finer, so that sums over a fleet are exact too.
type Money int64

const (
	moneyDecimals = 8
	dollar        = 100_000_000
	cent          = dollar / 100
	halfACent     = cent / 2 // less is no difference
)

// USD returns the amount for printing.
func (m Money) USD() units.USD { return units.USD(float64(m) / dollar) }

// MarshalJSON writes the amount in USD, as an exact decimal number.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

// String is the amount in USD as an exact decimal number, for programs; USD is for people.
func (m Money) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", uint64(-m)
	}
	text := fmt.Sprintf("%d.%0*d", n/dollar, moneyDecimals, n%dollar)
	return sign + strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// UnmarshalJSON reads an amount in USD.
func (m *Money) UnmarshalJSON(text []byte) error {
	var n json.Number
	if err := json.Unmarshal(text, &n); err != nil {
		return err
	}
	usd, err := strconv.ParseFloat(n.String(), 64)
	const most = 9e9 // USD; as Money it still fits
	if err != nil || math.Abs(usd) > most {
		return fmt.Errorf("%s is no amount of USD", n)
	}
	*m = Money(math.Round(usd * dollar))
	return nil
}

// monthly is what a volume costs a month, and false where its price is not known.
func monthly(v ebs.Volume, catalog *ebs.Catalog, prices ebs.Prices) (Money, bool) {
	usd, sold := cost.Monthly(catalog.Provisioned(v), prices)
	return Money(math.Round(float64(usd) * dollar)), sold
}
