package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"ebscope/internal/ebs"
)

const catalogFlag = "catalog"

// catalogOf returns the catalog that a command works with: the one that ships, extended by the user's.
func catalogOf(cmd *cobra.Command) (*ebs.Catalog, error) {
	catalog, err := givenCatalog(cmd)
	if catalog == nil && err == nil {
		catalog = ebs.Embedded()
	}
	return catalog, err
}

// catalogArgument is how a command line names the user's catalog, with a space before it; empty where the user gave none.
func catalogArgument(cmd *cobra.Command) string {
	if path := cmd.Flag(catalogFlag).Value.String(); path != "" {
		return " --" + catalogFlag + " " + quoted(path)
	}
	return ""
}

// givenCatalog returns the catalog that ships, extended by the user's, and nil where the user gave none.
func givenCatalog(cmd *cobra.Command) (*ebs.Catalog, error) {
	path, err := cmd.Flags().GetString(catalogFlag)
	if err != nil || path == "" {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("read the catalog: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	catalog, err := ebs.Embedded().Extend(f)
	if err != nil {
		return nil, usageError{fmt.Errorf("catalog %s: %w", path, err)}
	}
	return catalog, nil
}
