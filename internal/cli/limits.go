package cli

import (
	"io"

	"github.com/spf13/cobra"

	"ebscope/internal/ebs"
)

func newLimitsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "limits",
		Short: "Show what AWS documents about volume types, instance types and prices",
		Long: `Shows the limits and prices that every other command works with, each with its source and date. --catalog adds to them
or overrides them; update makes such a catalog from your AWS account.`,
		Example: `  ebscope limits volume
  ebscope limits volume gp3
  ebscope limits instance m5.xlarge -o json
  ebscope limits region ap-northeast-2
  ebscope limits update --from-aws --region eu-west-1 -o aws.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newLimitsOf(limitsOf[ebs.VolumeType]{
			use: "volume [TYPE]", short: "Limits of the volume types", plural: "volumes",
			find: func(c *ebs.Catalog, name string) (ebs.VolumeType, error) { return c.VolumeType(ebs.Type(name)) },
			list: (*ebs.Catalog).VolumeTypes, document: volumeTypeDocument, table: volumeTypeTable, entry: volumeTypeEntry,
		}),
		newLimitsOf(limitsOf[ebs.Instance]{
			use: "instance [TYPE]", short: "EBS limits of the EC2 instance types", plural: "instances",
			find: (*ebs.Catalog).Instance, list: (*ebs.Catalog).Instances,
			document: instanceDocument, table: instanceTable, entry: instanceEntry,
		}),
		newLimitsOf(limitsOf[ebs.Prices]{
			use: "region [CODE]", short: "Prices of the regions", plural: "regions",
			find: (*ebs.Catalog).Prices, list: (*ebs.Catalog).Regions,
			document: regionDocument, table: regionTable, entry: regionEntry,
		}),
		newLimitsUpdateCommand(),
	)
	return cmd
}

// limitsOf is how one kind of entry is found and shown.
type limitsOf[T any] struct {
	use, short, plural string
	find               func(*ebs.Catalog, string) (T, error)
	list               func(*ebs.Catalog) []T
	document           func(T) any // the form of its JSON
	table              func([]T) [][]string
	entry              func(T) [][]string
}

func newLimitsOf[T any](kind limitsOf[T]) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   kind.use,
		Short: kind.short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one name; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog, err := catalogOf(cmd)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return kind.showAll(cmd.OutOrStdout(), kind.list(catalog), output)
			}
			entry, err := kind.find(catalog, args[0])
			if err != nil {
				return err
			}
			return kind.show(cmd.OutOrStdout(), entry, output)
		},
	}
	outputFlag(cmd, &output, "text", "json")
	return cmd
}

func (kind limitsOf[T]) show(w io.Writer, entry T, output string) error {
	if output == "json" {
		return writeJSON(w, kind.document(entry))
	}
	return writeColumns(w, kind.entry(entry), textWidth(w))
}

func (kind limitsOf[T]) showAll(w io.Writer, entries []T, output string) error {
	if output == "json" {
		documents := make([]any, len(entries))
		for i, e := range entries {
			documents[i] = kind.document(e)
		}
		return writeJSON(w, map[string][]any{kind.plural: documents})
	}
	return writeColumns(w, kind.table(entries), textWidth(w))
}
