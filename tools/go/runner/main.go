// SPDX-License-Identifier: BSD-2-Clause

// Command runner translates the steps of the suite of all bindings (tests/bindings) into calls of package tamis.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"

	"tamis"
)

// A runner is what a case knows.
type runner struct {
	handles  map[string]any
	sentence string
}

// An answer is a line of the output.
type answer map[string]any

func (r *runner) forget() {
	for name := range r.handles {
		r.close(name)
	}
	r.handles = map[string]any{}
}

func (r *runner) close(name string) {
	if handle, ok := r.handles[name].(interface{ Close() error }); ok {
		_ = handle.Close() // of a filter whose file the case has cut
	}
}

// answer makes a call, and tells what came.
func (r *runner) answer(s *step) answer {
	if s.Case != nil {
		r.forget()
		return answer{"value": nil}
	}
	function, ok := calls[s.Call]
	if !ok {
		return answer{"lacks": s.Call}
	}
	s.runner = r
	clear(asked)
	value, err := s.guarded(function)
	if word := unasked(s.With); word != "" {
		return answer{"lacks": fmt.Sprintf("%s(%s)", s.Call, word)}
	}
	var lacks lacking
	switch {
	case errors.As(err, &lacks):
		return answer{"lacks": string(lacks)}
	case errors.Is(err, tamis.ErrClosed):
		return answer{"error": "CLOSED", "message": err.Error()}
	case err != nil:
		return r.failed(err, value)
	case s.As != "":
		r.close(s.As)
		r.handles[s.As] = value
		switch value.(type) {
		case *tamis.Store, *tamis.Filter, *tamis.Build, *tamis.Watch:
			value = nil
		}
	}
	return answer{"value": value}
}

func (r *runner) failed(err error, value any) answer {
	made := answer{"error": "INVALID", "message": err.Error()}
	if known := (*tamis.Error)(nil); errors.As(err, &known) {
		made["error"], r.sentence = known.Code.Name(), known.Sentence
	}
	if answers, ok := value.([]int); ok {
		made["answers"] = answers
	}
	return made
}

func run() error {
	r := &runner{handles: map[string]any{}}
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	lines := json.NewDecoder(in)
	lines.UseNumber()
	for lines.More() {
		var s step
		if err := lines.Decode(&s); err != nil {
			return err
		}
		if err := out.Encode(r.answer(&s)); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	log.SetFlags(0)
	err := error(nil)
	switch mode := append(os.Args, "")[1]; mode {
	case "":
		err = run()
	case "functions":
		names := []string{}
		for name := range calls {
			names = append(names, name)
		}
		slices.Sort(names)
		err = json.NewEncoder(os.Stdout).Encode(names)
	case "race":
		err = race(os.Args[2:])
	case "found":
		err = found(os.Args[2:])
	default:
		err = fmt.Errorf("runner: no mode %q", mode)
	}
	if err != nil {
		log.Fatal(err)
	}
}
