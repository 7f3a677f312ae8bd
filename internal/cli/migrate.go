package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ebscope/internal/migrate"
	"ebscope/internal/migration"
)

func newMigrateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move volumes from gp2 to gp3: plan, apply, status, rollback",
		Long: `A plan is a file: it says for each volume the way, the setting, and the price before and after. It is reviewed, perhaps
edited, and applied as it stands. apply writes a journal beside it before every change, and goes on from there whatever ended
it. rollback gives the volumes back the type, IOPS and throughput that the plan recorded.`,
		Example: `  ebscope migrate plan --out plan.json
  ebscope migrate apply plan.json
  ebscope migrate status plan.json
  ebscope migrate rollback plan.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMigratePlanCommand(), newMigrateApplyCommand(), newMigrateStatusCommand(), newMigrateRollbackCommand())
	return cmd
}

// planFile is a plan as it lies on disk.
type planFile struct {
	path   string
	plan   migration.Plan
	digest string
}

// openPlan reads a plan and holds it against the catalog.
func openPlan(cmd *cobra.Command, path string) (planFile, error) {
	catalog, err := catalogOf(cmd)
	if err != nil {
		return planFile{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return planFile{}, usageError{err}
	}
	defer f.Close()
	p := planFile{path: path}
	if p.plan, p.digest, err = migration.Read(f, catalog); err != nil {
		return planFile{}, usage("%s: %w", path, err)
	}
	return p, nil
}

// journal is where a plan's changes are recorded, unless the user names another place.
func (p planFile) journal(named string) string {
	if named != "" {
		return named
	}
	return p.path + ".journal"
}

// rollbackJournal is where taking back is recorded.
func rollbackJournal(journal string) string {
	return strings.TrimSuffix(journal, filepath.Ext(journal)) + ".rollback" + filepath.Ext(journal)
}

// ended gives the errors of carrying out a plan their exit codes.
func ended(err error) error {
	var (
		budget *migrate.BudgetError
		part   *migrate.PartError
	)
	switch {
	case errors.As(err, &budget):
		return thresholdError{err}
	case errors.As(err, &part):
		return partError{err}
	case errors.Is(err, migrate.ErrOtherPlan):
		return usageError{err}
	case errors.Is(err, migrate.ErrLocked):
		return unmetError{err}
	case err != nil && !interrupted(err):
		return fmt.Errorf("%w\ndone again it goes on from the journal", err)
	}
	return err
}
