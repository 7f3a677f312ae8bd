//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"ebscope/internal/fleet"
	"ebscope/test/fakeaws"
	"ebscope/test/kubernetes/fakekube"
)

// Where the fleet is that is scanned, and the volumes that are changed.
const seoul, virginia = "ap-northeast-2", "us-east-1"

// addresses are how the servers are reached.
type addresses struct {
	Environment []string // for AWS
	Kubeconfig  string
}

// serve runs the servers until standard input ends, so that their memory and that of what is measured are apart.
func serve() error {
	aws, kube := fakeaws.New(), fakekube.New()
	defer aws.Close()
	defer kube.Close()
	for i := range machines {
		aws.AddMachine(seoul, fakeaws.Machine{ID: fmt.Sprintf("i-%017x", i), Type: "m5.xlarge"})
	}
	for i := range volumes {
		v := fakeaws.Volume{ID: volumeID(i), Setting: fakeaws.Setting{Type: "gp3", Size: 100}, Tags: map[string]string{"team": "shop"},
			Attachments: []fakeaws.Attachment{{Instance: fmt.Sprintf("i-%017x", i%machines), Device: "/dev/sdf"}}}
		if i < creditVolumes {
			v.Type, v.Size = "gp2", 20+i%900
		}
		aws.AddVolume(seoul, v)
	}
	for range changes {
		aws.AddVolume(virginia, fakeaws.Volume{Setting: fakeaws.Setting{Type: "gp2", Size: 100}})
	}
	aws.Metric = metric
	// A change takes 2 s, and then optimizes 100 of 1,024 GiB for 6 s.
	aws.Modifying, aws.OptimizingPerTiB = 2*time.Second, 6*1024*time.Second/100
	aws.Run(1)
	for i := range claims {
		claim(kube, i)
	}
	dir, err := os.MkdirTemp("", "ebscope-perf-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	a := addresses{Environment: aws.Environment()}
	if a.Kubeconfig, err = kube.Kubeconfig(dir, "perf"); err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func volumeID(i int) string { return fmt.Sprintf("vol-%017x", i) }

// metric gives every metric of every volume a value for each step.
func metric(_ string, m fakeaws.Metric) fakeaws.Series {
	level := float64(len(m.Name)) * 1000
	return func(_ string, at time.Time, _ time.Duration) (float64, bool) {
		return level + float64(at.Unix()/300%288), true // a value of its own for each of the day's steps
	}
}

// claim makes a claim that a volume is bound to, and the pod that uses it.
func claim(kube *fakekube.Server, i int) {
	name := fmt.Sprintf("data-db-%d", i)
	of := func(kind, namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(kind + name)}
	}
	kube.Add("v1/persistentvolumeclaims", &corev1.PersistentVolumeClaim{ObjectMeta: of("claim", "shop", name), Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv-" + name}})
	kube.Add("v1/persistentvolumes", &corev1.PersistentVolume{ObjectMeta: of("pv", "", "pv-"+name), Spec: corev1.PersistentVolumeSpec{
		ClaimRef:               &corev1.ObjectReference{Namespace: "shop", Name: name, UID: types.UID("claim" + name)},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: fleet.EBSDriver, VolumeHandle: volumeID(i)}},
	}})
	kube.Add("v1/pods", &corev1.Pod{ObjectMeta: of("pod", "shop", "db-"+name), Spec: corev1.PodSpec{Volumes: []corev1.Volume{{
		Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}},
	}}}})
}

// servers is the process of the servers.
type servers struct {
	process *exec.Cmd
	hold    io.Closer
	addresses
}

// start starts the servers, and points the environment at them.
func start(ctx context.Context) (*servers, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &servers{process: exec.CommandContext(ctx, program, "serve")}
	s.process.Stderr = os.Stderr
	if s.hold, err = s.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.addresses)
	}
	for _, setting := range s.Environment {
		name, value, _ := strings.Cut(setting, "=")
		err = errors.Join(err, os.Setenv(name, value))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the servers: %w", err), s.stop())
	}
	return s, nil
}

func (s *servers) stop() error { return errors.Join(s.hold.Close(), s.process.Wait()) }
