package report_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ebscope/internal/report"
)

// browser starts a headless Chromium, of which open takes tabs.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes half a minute; run without -short: go test ./internal/report")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium to draw the page with; install it with: apt-get install chromium")
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()),
		chromedp.NoSandbox, chromedp.Headless, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(end)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return ctx
}

// tab is an open report.
type tab struct {
	ctx        context.Context
	mu         sync.Mutex
	complaints []string // what a page must not do: complain, or load anything but itself
}

// open loads the page of a report from a file, in a colour scheme and at a width in pixels.
func open(t *testing.T, browser context.Context, r report.Report, scheme string, width int64) *tab {
	t.Helper()
	var html bytes.Buffer
	if err := report.HTML(&html, r); err != nil {
		t.Fatal(err)
	}
	return openPage(t, browser, html, scheme, width)
}

// openPage loads a page that was rendered.
func openPage(t *testing.T, browser context.Context, html bytes.Buffer, scheme string, width int64) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	tab := &tab{ctx: ctx}
	tab.watch(t, "file://"+path)
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+path)); err != nil {
		t.Fatalf("open the page: %v", err)
	}
	keep(t, "report.html", html.Bytes())
	return tab
}

func (tab *tab) watch(t *testing.T, url string) {
	t.Helper()
	add := func(s string) {
		tab.mu.Lock()
		defer tab.mu.Unlock()
		tab.complaints = append(tab.complaints, s)
	}
	err := chromedp.Listen(tab.ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += " " + e.ExceptionDetails.Exception.Description
			}
			add("exception: " + text)
		case *runtime.EventConsoleAPICalled:
			add("console: " + string(e.Type))
		case *log.EventEntryAdded:
			add("log: " + e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != url && !strings.HasPrefix(e.Request.URL, "data:") {
				add("request: " + e.Request.URL)
			}
		}
	})
	if err == nil {
		_, err = chromedp.Call(tab.ctx, network.Enable, network.EnableParams{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// complained reports what the page did that it must not do.
func (tab *tab) complained(t *testing.T) {
	t.Helper()
	tab.mu.Lock()
	defer tab.mu.Unlock()
	for _, c := range tab.complaints {
		t.Error(c)
	}
}

func evaluate[T any](t *testing.T, tab *tab, js string) T {
	t.Helper()
	return run(t, tab, chromedp.Evaluate[T](js))
}

func run[T any](t *testing.T, tab *tab, action chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(tab.ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// keep writes a picture or document where EBSCOPE_SHOTS names a folder, for people to look at.
func keep(t *testing.T, name string, content []byte) {
	t.Helper()
	if dir := os.Getenv("EBSCOPE_SHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
