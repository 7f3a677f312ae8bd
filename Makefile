GOLANGCI_LINT_VERSION := v2.15.0

.PHONY: build run test e2e lint fuzz perf clean

# A program that needs no library of the system runs on any.
build:
	CGO_ENABLED=0 go build -trimpath -o bin/ebscope ./cmd/ebscope

# The two-minute demonstration: real fio on two emulated volumes.
run:
	@scripts/install.sh fio
	@$(MAKE) --no-print-directory build
	bin/ebscope bench

# Rates, latencies, memory and pages are checked in the second run, alone on the machine and without the race detector's delays.
test: lint
	@scripts/install.sh fio mkfs.xfs mkfs.ext4 sfdisk pvcreate wipefs fusermount3 chromium
	go test -race -short ./...
	go test -count=1 -p 1 -timeout 20m ./internal/emulate/... ./internal/fio/output/... ./internal/report/... ./internal/migrate/... ./test/...
	GOOS=darwin go build ./...
	GOOS=windows go build ./...

# A real Kubernetes, built and started by the tests: the first time takes a quarter of an hour, for the programs are built
# too. E2E_KUBECONFIG=FILE uses an existing cluster instead.
e2e:
	@scripts/install.sh fio mkfs.xfs mkfs.ext4 busybox runc ptp
	EBSCOPE_E2E=1 go test -count=1 -v -p 1 -timeout 40m ./test/kubernetes/...

lint: bin/golangci-lint-$(GOLANGCI_LINT_VERSION)
	go vet ./...
	$< run

bin/golangci-lint-$(GOLANGCI_LINT_VERSION):
	GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv bin/golangci-lint $@

# A minute of arbitrary input for every parser, two at once.
FUZZTIME := 1m
fuzz:
	@scripts/fuzz.sh $(FUZZTIME)

# Rates and speeds beside a peer, QEMU's throttle driver, in one run; loads followed in fluid form beside I/O by I/O;
# simulation beside a heap of events in Go and in Python; the time from start to answer of what is only computed;
# logs of fio beside awk and fio2gnuplot; a fleet of 50,000 volumes scanned, planned and changed.
perf:
	@scripts/install.sh fio qemu-storage-daemon
	go run ./perf
	go run ./perf/forecast
	go run ./perf/simulate
	go run ./perf/start
	go run ./perf/logs
	go run ./perf/fleet

clean:
	rm -rf bin
