// Reads live figures with the parsers of the systems that take them, and prints each value as they have it.
//
//	metrics-parsers openmetrics|prometheus|influx|otlp < TEXT
//
// openmetrics and prometheus: the parser of the Prometheus server, and what `promtool check metrics` runs; influx: the
// parser of InfluxDB 1 and 2; otlp: the one of the OpenTelemetry collector. A line for each value, sorted, with labels as
// JSON: `name {"label":"value"} number`. Exit code 1, with each complaint on stderr, where a parser has any.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/influxdata/influxdb/models"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	var values []string
	if err == nil && len(os.Args) == 2 {
		values, err = read(os.Args[1], text)
	} else if err == nil {
		err = errors.New("use: metrics-parsers openmetrics|prometheus|influx|otlp < TEXT")
	}
	if err == nil && len(values) == 0 {
		err = errors.New("there is no value in it")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	slices.Sort(values)
	fmt.Println(strings.Join(values, "\n"))
}

func read(form string, text []byte) ([]string, error) {
	switch form {
	case "openmetrics":
		return scraped(text, "application/openmetrics-text; version=1.0.0; charset=utf-8")
	case "prometheus":
		values, err := scraped(text, "text/plain; version=0.0.4; charset=utf-8")
		return values, errors.Join(err, linted(text))
	case "influx":
		return points(text)
	case "otlp":
		return exported(text)
	}
	return nil, fmt.Errorf("%s is no form", form)
}

func line(name string, of map[string]string, value float64) string {
	// A map of strings can always be written.
	told, _ := json.Marshal(of)
	return fmt.Sprintf("%s %s %v", name, told, value)
}

// As the server reads what it scrapes, by the content type that it was sent with.
func scraped(text []byte, kind string) ([]string, error) {
	parser, err := textparse.New(text, kind, labels.NewSymbolTable(), textparse.ParserOptions{})
	if err != nil {
		return nil, err
	}
	var values []string
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		parser.Labels(&series)
		_, _, value := parser.Series()
		of := series.Map()
		name := of[labels.MetricName]
		delete(of, labels.MetricName)
		values = append(values, line(name, of, value))
	}
}

// What `promtool check metrics` says.
func linted(text []byte) error {
	problems, err := promlint.New(strings.NewReader(string(text))).Lint()
	for _, problem := range problems {
		err = errors.Join(err, fmt.Errorf("%s: %s", problem.Metric, problem.Text))
	}
	return err
}

func points(text []byte) ([]string, error) {
	parsed, err := models.ParsePointsWithPrecision(text, time.Unix(0, 0), "n")
	var values []string
	for _, point := range parsed {
		fields, wrong := point.Fields()
		value, is := fields["value"].(float64)
		if wrong != nil || !is || len(fields) != 1 || point.UnixNano() == 0 {
			err = errors.Join(err, wrong, fmt.Errorf("not one number with its time: %s", point))
		}
		values = append(values, line(string(point.Name()), point.Tags().Map(), value))
	}
	return values, err
}

func exported(text []byte) ([]string, error) {
	metrics, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(text)
	if err != nil {
		return nil, err
	}
	var values []string
	for _, resource := range metrics.ResourceMetrics().All() {
		if name, _ := resource.Resource().Attributes().Get("service.name"); name.AsString() != "fathom" {
			err = errors.Join(err, errors.New("the resource has no service.name"))
		}
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				of, wrong := numbers(metric)
				values, err = append(values, of...), errors.Join(err, wrong)
			}
		}
	}
	return values, err
}

func numbers(metric pmetric.Metric) ([]string, error) {
	var data pmetric.NumberDataPointSlice
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		data = metric.Gauge().DataPoints()
	case pmetric.MetricTypeSum:
		data = metric.Sum().DataPoints()
		if metric.Sum().AggregationTemporality() != pmetric.AggregationTemporalityCumulative || !metric.Sum().IsMonotonic() {
			return nil, fmt.Errorf("%s: a counter is a monotonic, cumulative sum", metric.Name())
		}
	default:
		return nil, fmt.Errorf("%s: %s is neither sum nor gauge", metric.Name(), metric.Type())
	}
	var values []string
	for _, point := range data.All() {
		if point.StartTimestamp() == 0 || point.Timestamp() < point.StartTimestamp() {
			return nil, fmt.Errorf("%s: a value has no time", metric.Name())
		}
		of := make(map[string]string)
		for key, value := range point.Attributes().All() {
			of[key] = value.AsString()
		}
		values = append(values, line(metric.Name(), of, point.DoubleValue()))
	}
	return values, nil
}
