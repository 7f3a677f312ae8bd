//go:build linux

package testcluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
)

func TestSettingsOfAClass(t *testing.T) {
	block := corev1.PersistentVolumeBlock
	for _, test := range []struct {
		name        string
		parameters  map[string]string
		annotations map[string]string
		size        string
		mode        *corev1.PersistentVolumeMode
		want        settings
		wrong       bool
	}{
		{
			name: "the EBS CSI driver's defaults are gp3 and ext4, in real time", size: "10Gi",
			want: settings{volume: ebs.Volume{Type: "gp3", Size: 10 * units.GiB}, compress: 1, credits: 1, fileSystem: "ext4"},
		},
		{
			name: "what a class says", size: "100Gi",
			parameters: map[string]string{"type": "gp3", "iops": "4000", "throughput": "200", fileSystemParameter: "xfs"},
			want: settings{volume: ebs.Volume{Type: "gp3", Size: 100 * units.GiB, IOPS: 4000, Throughput: 200 * units.MiBPerSecond},
				compress: 1, credits: 1, fileSystem: "xfs"},
		},
		{
			name: "a compressed raw device with less than all credits", size: "100Gi", mode: &block,
			parameters:  map[string]string{"type": "gp2", CreditsParameter: "30%"},
			annotations: map[string]string{manifest.EmulatedAnnotation: "60"},
			want:        settings{volume: ebs.Volume{Type: "gp2", Size: 100 * units.GiB}, compress: 60, credits: 0.3},
		},
		{name: "more than a volume can have", size: "1Gi", parameters: map[string]string{"iops": "4000"}, wrong: true},
		{name: "no number", size: "10Gi", parameters: map[string]string{"iops": "many"}, wrong: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeMode: test.mode, Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(test.size)}}}}
			class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "class", Annotations: test.annotations}, Parameters: test.parameters}
			got, err := readSettings(claim, class)
			if test.wrong {
				if err == nil {
					t.Errorf("got %+v, want an error", got)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}
