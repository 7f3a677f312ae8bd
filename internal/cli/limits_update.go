package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/bench"
	"ebscope/internal/cloud"
	"ebscope/internal/ebs"
	"ebscope/internal/result"
)

type updateOptions struct {
	fromAWS bool
	regions []string
	types   []string
	file    string
}

func newLimitsUpdateCommand() *cobra.Command {
	var o updateOptions
	cmd := &cobra.Command{
		Use:   "update --from-aws -o FILE",
		Short: "Write a catalog with what AWS itself says today",
		Long: `Asks AWS for the EBS limits of instance types and for the prices of volumes, and writes them as a catalog for --catalog.
It needs AWS credentials with the permissions ec2:DescribeInstanceTypes and pricing:GetProducts, and changes nothing in
the account. A file that it has written before is replaced; another is left alone.`,
		Example: `  ebscope limits update --from-aws --region eu-west-1 -o aws.yaml
  ebscope limits update --from-aws --region eu-west-1,us-east-1 --instance-types m7i.large,m7i.xlarge -o aws.yaml
  ebscope simulate --catalog aws.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !o.fromAWS {
				return usage("say where from: --from-aws")
			}
			if o.file == "" {
				return usage("say where to: -o FILE")
			}
			catalog, err := catalogOf(cmd)
			if err != nil {
				return err
			}
			return runUpdate(cmd.Context(), o, catalog, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.fromAWS, "from-aws", false, "ask AWS, with the credentials of the AWS command line")
	f.StringSliceVar(&o.regions, "region", nil, "regions, separated by commas (default: that of the AWS configuration)")
	f.StringSliceVar(&o.types, "instance-types", nil, "instance types, separated by commas (default: all that the regions have)")
	f.StringVarP(&o.file, "output", "o", "", "file to write")
	return cmd
}

// writtenByUpdate begins a file that update may replace.
const writtenByUpdate = "# Written by `ebscope limits update --from-aws`"

func runUpdate(ctx context.Context, o updateOptions, catalog *ebs.Catalog, stderr io.Writer) error {
	if err := replaceable(o.file); err != nil {
		return err
	}
	if err := creatable(o.file); err != nil {
		return err
	}
	account, err := cloud.Open(ctx)
	if err != nil {
		return err
	}
	if len(o.regions) == 0 {
		region, err := account.Region()
		if err != nil {
			return err
		}
		o.regions = []string{region}
	}
	today := time.Now().UTC().Format(time.DateOnly)
	instances := map[string]ebs.Instance{}
	var regions []ebs.Prices
	for _, region := range o.regions {
		found, err := account.Instances(ctx, region, o.types)
		if err != nil {
			return err
		}
		for _, i := range found {
			i.Date = today
			instances[i.Type] = i
		}
		prices, incomplete, err := account.Prices(ctx, catalog, region)
		if err != nil {
			return err
		}
		for name, p := range prices.Volumes {
			p.Date = today
			prices.Volumes[name] = p
		}
		regions = append(regions, prices)
		fmt.Fprintf(stderr, "ebscope: %s: %d instance types, prices of %d volume types\n", region, len(found), len(prices.Volumes))
		for _, name := range incomplete {
			fmt.Fprintf(stderr, "ebscope: %s: AWS does not list all that %s is charged for, so it is left out\n", region, name)
		}
	}
	text, err := updatedCatalog(catalog, slices.Collect(maps.Values(instances)), regions, today)
	if err != nil {
		return err
	}
	return result.WriteFile(o.file, text)
}

// updatedCatalog writes a catalog and makes sure that it can be read.
func updatedCatalog(catalog *ebs.Catalog, instances []ebs.Instance, regions []ebs.Prices, today string) ([]byte, error) {
	text := bytes.NewBufferString(writtenByUpdate + ", " + today + "\n")
	if err := ebs.Write(text, instances, regions); err != nil {
		return nil, fmt.Errorf("write the catalog: %w", err)
	}
	if _, err := catalog.Extend(bytes.NewReader(text.Bytes())); err != nil {
		return nil, fmt.Errorf("what AWS says makes no catalog: %w", err)
	}
	return text.Bytes(), nil
}

// replaceable declines to write over what somebody else has written.
func replaceable(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		return usage("--output %s: it is a directory; name a file in it", path)
	}
	if err != nil {
		return fmt.Errorf("write the catalog: %w", err)
	}
	if !strings.HasPrefix(string(text), writtenByUpdate) {
		return &bench.DeclinedError{Reason: path + " exists and is not a catalog that update has written; name another file"}
	}
	return nil
}

// creatable refuses a file whose folder is not there or takes no files: AWS would be asked in vain.
func creatable(path string) error {
	probe, err := os.CreateTemp(filepath.Dir(path), ".ebscope-*")
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err // and not the name of the probe
	}
	if err != nil {
		return usage("--output %s: %w; name a file in a folder that takes files", path, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
