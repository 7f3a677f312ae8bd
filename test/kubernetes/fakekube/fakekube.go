// Package fakekube answers like a Kubernetes API server that is only read: lists by pages whose place it forgets when it is
// told to, single objects, discovery and the version. Tests put objects into it. It is no cluster: nothing happens in it, and
// it admits whatever is not denied.
package fakekube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// User is who the server says that asks.
const User = "reader"

// Server is the fake. Its fields are set before the first request.
type Server struct {
	*httptest.Server
	// Kinds are the served kinds, such as "storage.k8s.io/v1/volumeattributesclasses"; of the core group "v1/pods".
	Kinds []string
	// Denied are the resources that may not be read: "pods", "statefulsets".
	Denied map[string]bool
	// Expired is asked before each page that goes on from a place: the error that the server then answers, nil where it goes on.
	Expired func(resource string, page int) *apierrors.StatusError

	mu      sync.Mutex
	objects map[string][]object // by kind
	calls   []string
}

type object struct {
	namespace, name string
	text            json.RawMessage
}

// names are what the objects of a resource are called.
var names = map[string]string{
	"namespaces": "Namespace", "persistentvolumeclaims": "PersistentVolumeClaim", "persistentvolumes": "PersistentVolume", "pods": "Pod", "nodes": "Node",
	"statefulsets": "StatefulSet", "daemonsets": "DaemonSet", "deployments": "Deployment", "storageclasses": "StorageClass", "csidrivers": "CSIDriver",
	"volumeattributesclasses": "VolumeAttributesClass",
}

// Kinds that New serves.
var kinds = []string{
	"v1/namespaces", "v1/persistentvolumeclaims", "v1/persistentvolumes", "v1/pods", "v1/nodes",
	"apps/v1/statefulsets", "apps/v1/daemonsets", "apps/v1/deployments",
	"storage.k8s.io/v1/storageclasses", "storage.k8s.io/v1/csidrivers", "storage.k8s.io/v1/volumeattributesclasses",
}

// New starts a fake with the namespace kube-system. The caller closes it.
func New() *Server {
	s := &Server{Kinds: slices.Clone(kinds), Denied: map[string]bool{}, objects: map[string][]object{}}
	s.Add("v1/namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: "kube-system-uid"}})
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	return s
}

// Add puts objects of a kind into the server, in the order of lists.
func (s *Server) Add(kind string, all ...metav1.Object) {
	for _, o := range all {
		text, err := json.Marshal(o)
		if err != nil {
			panic(err) // an object of the tests' own
		}
		version, resource := split(kind)
		text = append(fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,`, names[resource], version), text[1:]...)
		s.objects[kind] = append(s.objects[kind], object{o.GetNamespace(), o.GetName(), text})
	}
}

// Kubeconfig writes a kubeconfig for the server into a folder, with one context, and returns its path.
func (s *Server) Kubeconfig(dir, context string) (string, error) {
	path := filepath.Join(dir, "kubeconfig-"+filepath.Base(context))
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":%[1]q,"contexts":[{"name":%[1]q,"context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":%[2]q}}],"users":[{"name":"u","user":{}}]}`, context, s.URL)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// Calls are the requests so far: "list pods", "get deployments ebs-csi-controller".
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/version":
		send(w, http.StatusOK, map[string]string{"gitVersion": "v1.36.3"})
		return
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[1:]
	case parts[0] == "apis" && len(parts) == 3:
		s.discover(w, parts[1]+"/"+parts[2])
		return
	case parts[0] == "apis" && len(parts) > 3:
		parts = append([]string{parts[1] + "/" + parts[2]}, parts[3:]...)
	default:
		fail(w, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path))
		return
	}
	version, namespace := parts[0], ""
	if parts[1] == "namespaces" && len(parts) > 3 {
		namespace, parts = parts[2], parts[2:]
	}
	name := ""
	if len(parts) > 2 {
		name = parts[2]
	}
	s.serve(w, r, version+"/"+parts[1], namespace, name)
}

// serve answers a list, or an object where name is not empty.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, kind, namespace, name string) {
	version, resource := split(kind)
	group, _, _ := strings.Cut(version, "/")
	if group == "v1" {
		group = ""
	}
	of, verb := schema.GroupResource{Group: group, Resource: resource}, "list"
	if name != "" {
		verb = "get"
	}
	s.mu.Lock()
	s.calls = append(s.calls, strings.TrimSpace(verb+" "+resource+" "+name))
	s.mu.Unlock()
	switch {
	case s.Denied[resource]:
		text := fmt.Sprintf("User %q cannot %s resource %q in API group %q at the cluster scope", User, verb, resource, group)
		if namespace != "" {
			text = fmt.Sprintf("User %q cannot %s resource %q in API group %q in the namespace %q", User, verb, resource, group, namespace)
		}
		fail(w, apierrors.NewForbidden(of, name, fmt.Errorf("%s", text)))
	case !slices.Contains(s.Kinds, kind):
		fail(w, apierrors.NewNotFound(of, name))
	case name == "":
		s.list(w, r, version, kind, resource, namespace)
	default:
		for _, o := range s.objects[kind] {
			if o.name == name && o.namespace == namespace {
				send(w, http.StatusOK, o.text)
				return
			}
		}
		fail(w, apierrors.NewNotFound(of, name))
	}
}

// split takes "storage.k8s.io/v1/csidrivers" apart.
func split(kind string) (version, resource string) {
	i := strings.LastIndexByte(kind, '/')
	return kind[:i], kind[i+1:]
}

func (s *Server) list(w http.ResponseWriter, r *http.Request, version, kind, resource, namespace string) {
	var all []object
	for _, o := range s.objects[kind] {
		if namespace == "" || o.namespace == namespace {
			all = append(all, o)
		}
	}
	q := r.URL.Query()
	from, _ := strconv.Atoi(q.Get("continue")) // the fake's own
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit == 0 {
		limit = len(all)
	}
	if from > 0 && s.Expired != nil {
		if err := s.Expired(resource, from/limit); err != nil {
			fail(w, err)
			return
		}
	}
	to := min(len(all), from+limit)
	next := ""
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	var items bytes.Buffer
	for i, o := range all[min(from, to):to] {
		if i > 0 {
			items.WriteByte(',')
		}
		items.Write(o.text)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":"1","continue":%q},"items":[%s]}`, names[resource], version, next, items.Bytes())
}

func (s *Server) discover(w http.ResponseWriter, version string) {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version}
	for _, kind := range s.Kinds {
		if resource, ok := strings.CutPrefix(kind, version+"/"); ok {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: resource, Verbs: metav1.Verbs{"get", "list"}})
		}
	}
	if len(list.APIResources) == 0 {
		fail(w, apierrors.NewNotFound(schema.GroupResource{}, version))
		return
	}
	send(w, http.StatusOK, list)
}

func fail(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.ErrStatus
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	send(w, int(status.Code), status)
}

func send(w http.ResponseWriter, code int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // a client that has gone
}
