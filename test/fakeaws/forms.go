package fakeaws

import "encoding/xml"

// The answers of EC2 as its query protocol writes them.
type (
	regionsAnswer struct {
		XMLName xml.Name    `xml:"DescribeRegionsResponse"`
		Regions []regionXML `xml:"regionInfo>item"`
	}
	regionXML struct {
		Name     string `xml:"regionName"`
		Endpoint string `xml:"regionEndpoint"`
		OptIn    string `xml:"optInStatus"`
	}
	volumesAnswer struct {
		XMLName xml.Name    `xml:"DescribeVolumesResponse"`
		Volumes []volumeXML `xml:"volumeSet>item"`
		Next    string      `xml:"nextToken,omitempty"`
	}
	volumeXML struct {
		ID             string          `xml:"volumeId"`
		ARN            string          `xml:"volumeArn"`
		Owner          string          `xml:"ownerId"`
		Size           int             `xml:"size"`
		Type           string          `xml:"volumeType"`
		IOPS           *int            `xml:"iops"`
		Throughput     *int            `xml:"throughput"`
		Zone           string          `xml:"availabilityZone"`
		State          string          `xml:"status"`
		Created        string          `xml:"createTime"`
		Encrypted      bool            `xml:"encrypted"`
		KMSKey         string          `xml:"kmsKeyId,omitempty"`
		Snapshot       string          `xml:"snapshotId"`
		FastRestored   bool            `xml:"fastRestored,omitempty"`
		Initialization *int            `xml:"volumeInitializationRate"`
		MultiAttach    bool            `xml:"multiAttachEnabled"`
		Attachments    []attachmentXML `xml:"attachmentSet>item"`
		Tags           []tagXML        `xml:"tagSet>item"`
	}
	attachmentXML struct {
		Volume   string `xml:"volumeId"`
		Instance string `xml:"instanceId"`
		Device   string `xml:"device"`
		State    string `xml:"status"`
		Since    string `xml:"attachTime"`
		Delete   bool   `xml:"deleteOnTermination"`
	}
	tagXML struct {
		Key   string `xml:"key"`
		Value string `xml:"value"`
	}
	modifyAnswer struct {
		XMLName      xml.Name        `xml:"ModifyVolumeResponse"`
		Modification modificationXML `xml:"volumeModification"`
	}
	modificationsAnswer struct {
		XMLName       xml.Name          `xml:"DescribeVolumesModificationsResponse"`
		Modifications []modificationXML `xml:"volumeModificationSet>item"`
		Next          string            `xml:"nextToken,omitempty"`
	}
	modificationXML struct {
		Volume             string `xml:"volumeId"`
		State              string `xml:"modificationState"`
		Message            string `xml:"statusMessage,omitempty"`
		Progress           int    `xml:"progress"`
		Start              string `xml:"startTime"`
		End                string `xml:"endTime,omitempty"`
		OriginalSize       int    `xml:"originalSize"`
		OriginalIOPS       *int   `xml:"originalIops"`
		OriginalType       string `xml:"originalVolumeType"`
		OriginalThroughput *int   `xml:"originalThroughput"`
		OriginalMulti      bool   `xml:"originalMultiAttachEnabled"`
		TargetSize         int    `xml:"targetSize"`
		TargetIOPS         *int   `xml:"targetIops"`
		TargetType         string `xml:"targetVolumeType"`
		TargetThroughput   *int   `xml:"targetThroughput"`
		TargetMulti        bool   `xml:"targetMultiAttachEnabled"`
	}
	instancesAnswer struct {
		XMLName      xml.Name         `xml:"DescribeInstancesResponse"`
		Reservations []reservationXML `xml:"reservationSet>item"`
		Next         string           `xml:"nextToken,omitempty"`
	}
	reservationXML struct {
		ID       string      `xml:"reservationId"`
		Owner    string      `xml:"ownerId"`
		Instance instanceXML `xml:"instancesSet>item"`
	}
	instanceXML struct {
		ID    string   `xml:"instanceId"`
		Type  string   `xml:"instanceType"`
		Zone  string   `xml:"placement>availabilityZone"`
		State string   `xml:"instanceState>name"`
		DNS   string   `xml:"privateDnsName"`
		Tags  []tagXML `xml:"tagSet>item"`
	}
)
