package workflow

import (
	"time"

	"github.com/proofreel/proofreel/internal/studio/ledger"
)

// Names of the tiers.
const (
	Standard = "standard"
	Pro      = "pro"
)

// Tiers lists what can be ordered, the usual one first. Limits that are not
// set are the sandbox's.
func Tiers() []Tier {
	const screenModel = "claude-haiku-5-5"
	return []Tier{
		{
			Name: Standard, Model: "claude-sonnet-5-5", ScreenModel: screenModel,
			Budget: 4 * ledger.Dollar, ScreenBudget: ledger.Dollar / 20, Turns: 80, Wall: 40 * time.Minute, Thinking: true,
		},
		{
			Name: Pro, Model: "claude-opus-5-5", ScreenModel: screenModel,
			Budget: 15 * ledger.Dollar, ScreenBudget: ledger.Dollar / 20, Turns: 120, Wall: 45 * time.Minute, Thinking: true,
		},
	}
}

// TierNamed finds a tier.
func TierNamed(name string) (Tier, bool) {
	for _, t := range Tiers() {
		if t.Name == name {
			return t, true
		}
	}
	return Tier{}, false
}
