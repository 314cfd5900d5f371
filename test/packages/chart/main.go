// Renders a Helm chart as far as ours needs it: chart <folder> <file with values>. Helm itself takes minutes to build.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type files struct{ folder string }

func (f files) Get(name string) string { return string(read(filepath.Join(f.folder, name))) }

func read(path string) []byte {
	content, err := os.ReadFile(path)
	check(err)
	return content
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// As Helm does it: maps are merged, everything else is replaced.
func merge(into, from map[string]any) {
	for name, value := range from {
		inner, isMap := value.(map[string]any)
		if known, wasMap := into[name].(map[string]any); isMap && wasMap {
			merge(known, inner)
		} else {
			into[name] = value
		}
	}
}

func parse(path string) map[string]any {
	values := map[string]any{}
	check(yaml.Unmarshal(read(path), &values))
	return values
}

func main() {
	folder := os.Args[1]
	values := parse(filepath.Join(folder, "values.yaml"))
	merge(values, parse(os.Args[2]))
	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data any) (string, error) {
		var text bytes.Buffer
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value any) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["required"] = func(message string, value any) (any, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	all.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	for _, path := range paths {
		_, err := all.New(filepath.Base(path)).Parse(string(read(path)))
		check(err)
	}
	data := map[string]any{
		"Values":  values,
		"Files":   files{folder},
		"Release": map[string]any{"Name": "mine", "Service": "Helm", "Revision": 1},
		"Chart":   map[string]any{"AppVersion": parse(filepath.Join(folder, "Chart.yaml"))["appVersion"]},
	}
	for _, path := range paths {
		if strings.HasSuffix(path, ".tpl") {
			continue
		}
		var text bytes.Buffer
		check(all.ExecuteTemplate(&text, filepath.Base(path), data))
		fmt.Printf("---\n%s\n", text.String())
	}
}
