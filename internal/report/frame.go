package report

import "html/template"

// frame is what every page has around its content.
type frame struct {
	Title         string
	Tool, Command string // that made the page
	Scheme        string
	Charts        []chart
	CSS, PlotCSS  template.CSS
	JS, PlotJS    template.JS
}

func newFrame(title, tool, command string, theme Theme) frame {
	return frame{
		Title: title, Tool: tool, Command: command, Scheme: theme.scheme(), Charts: []chart{},
		//nolint:gosec // these are part of the build, not input
		CSS: template.CSS(theme.style()), PlotCSS: template.CSS(asset("uPlot.min.css")),
		JS: template.JS(asset("page.js")), PlotJS: template.JS("/*\n" + asset("uPlot.LICENSE") + "*/\n" + asset("uPlot.iife.min.js")), //nolint:gosec // likewise
	}
}
