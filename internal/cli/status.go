package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ebscope/internal/cluster"
	"ebscope/internal/pvcbench"
)

func newStatusCommand() *cobra.Command {
	var (
		where  clusterFlags
		output string
	)
	cmd := &cobra.Command{
		Use:   "status [RUN]",
		Short: "Show the runs in a cluster, or how one comes along",
		Example: `  ebscope status
  ebscope status 20261201T120000Z-gp2-vs-gp3-kubernetes -n storage -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("%s takes one run at most; see %s --help", cmd.CommandPath(), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := where.connect()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				runs, err := client.Runs(cmd.Context())
				if err != nil {
					return err
				}
				return showRuns(cmd.OutOrStdout(), client.Namespace, runs, output)
			}
			run, err := client.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return showRun(cmd.OutOrStdout(), run, output)
		},
	}
	where.add(cmd)
	outputFlag(cmd, &output, "text", "json")
	return cmd
}

// runDocument is a run in a cluster as JSON.
type runDocument struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Namespace string         `json:"namespace"`
	Created   time.Time      `json:"created"`
	State     string         `json:"state"`
	Profile   string         `json:"profile,omitempty"`
	Sets      []setDocument  `json:"sets"`
	Warnings  []eventMessage `json:"warnings"`
}

type setDocument struct {
	Set    int           `json:"set"` // from 1
	Job    string        `json:"job"`
	State  string        `json:"state"`
	Reason string        `json:"reason,omitempty"`
	Pods   []podDocument `json:"pods"`
}

type podDocument struct {
	Name    string `json:"name"`
	Node    string `json:"node,omitempty"`
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type eventMessage struct {
	At      time.Time `json:"at"`
	Object  string    `json:"object"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
}

func documentOf(run cluster.RunStatus) runDocument {
	d := runDocument{ID: run.ID, Name: run.Name, Namespace: run.Namespace, Created: run.Created, State: string(run.State()),
		Sets: []setDocument{}, Warnings: []eventMessage{}}
	if record, err := pvcbench.Record(run); err == nil {
		d.Profile = record.Profile.Name
	}
	for _, p := range run.Pairs {
		s := setDocument{Set: p.Pair + 1, Job: p.Job, State: string(p.State), Reason: strings.TrimSpace(p.Reason + " " + p.Message), Pods: []podDocument{}}
		for _, pod := range p.Pods {
			s.Pods = append(s.Pods, podDocument{pod.Name, pod.Node, string(pod.State), pod.Reason, pod.Message})
		}
		d.Sets = append(d.Sets, s)
	}
	for _, e := range run.Events {
		if e.Warning {
			d.Warnings = append(d.Warnings, eventMessage{e.Time, e.Kind + " " + e.Object, e.Reason, e.Message})
		}
	}
	return d
}

func showRuns(w io.Writer, namespace string, runs []cluster.RunStatus, format string) error {
	documents := []runDocument{}
	for _, r := range runs {
		documents = append(documents, documentOf(r))
	}
	if format == "json" {
		return writeJSON(w, map[string]any{"runs": documents})
	}
	if len(runs) == 0 {
		_, err := fmt.Fprintf(w, "namespace %s has no runs\n", namespace)
		return err
	}
	rows := [][]string{{"RUN", "STATE", "AGE", "SETS"}}
	for _, d := range documents {
		rows = append(rows, []string{d.ID, d.State, clock(time.Since(d.Created)), strconv.Itoa(len(d.Sets))})
	}
	return writeColumns(w, rows, textWidth(w))
}

func showRun(w io.Writer, run cluster.RunStatus, format string) error {
	d := documentOf(run)
	if format == "json" {
		return writeJSON(w, d)
	}
	head := fmt.Sprintf("run %s in namespace %s is %s, begun %s ago", d.ID, d.Namespace, d.State, clock(time.Since(d.Created)))
	fmt.Fprintln(w, wrapped(head, "", textWidth(w)))
	rows := [][]string{{"POD", "STATE", "NODE"}}
	for _, s := range d.Sets {
		for _, p := range s.Pods {
			rows = append(rows, []string{p.Name, p.State, p.Node})
			if p.Reason != "" {
				rows = append(rows, []string{"  " + visible(p.Reason+": "+p.Message)})
			}
		}
		if s.Reason != "" {
			rows = append(rows, []string{"Job " + s.Job + ": " + visible(s.Reason)})
		}
	}
	if err := writeColumns(w, rows, textWidth(w)); err != nil {
		return err
	}
	for _, e := range d.Warnings {
		fmt.Fprint(w, wrapped(visible(fmt.Sprintf("%s %s %s: %s", e.At.UTC().Format(time.TimeOnly), e.Object, e.Reason, e.Message)), "", textWidth(w)))
	}
	return nil
}
