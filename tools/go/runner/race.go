// SPDX-License-Identifier: BSD-2-Clause

package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"tamis"
)

var strides = []int{7368787, 15485863, 32452843, 49979687, 67867967, 86028121, 104395301}

func numbers(words []string) ([]int, error) {
	var made []int
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		made = append(made, n)
	}
	return made, nil
}

func opened(path, name string) (*tamis.Filter, error) {
	return tamis.OpenAt(background, path, &tamis.StoreOptions{MustExist: true}, name, 0)
}

// race adds keys beside other processes, and notes which were new to this one.
func race(words []string) error {
	given, err := numbers(words[2:6])
	if err != nil {
		return err
	}
	first, count, seed, batch := given[0], given[1], given[2], given[3]
	seen, err := opened(words[0], words[1])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err = bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	out, err := os.OpenFile(words[6], os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	for i := 0; i < count; i += batch {
		var some []int
		var keys []string
		for j := i; j < min(i+batch, count); j++ {
			n := first + (seed*104729+j*strides[seed%len(strides)])%count
			some = append(some, n)
			keys = append(keys, fmt.Sprint("key-", n))
		}
		answers, err := added(seen, keys)
		if err != nil {
			return err
		}
		if err = note(out, some, answers); err != nil {
			return err
		}
	}
	return nil
}

func added(seen *tamis.Filter, keys []string) ([]tamis.Answer, error) {
	answers := make([]tamis.Answer, len(keys))
	if len(keys) > 1 {
		_, err := seen.AddStrings(background, keys, answers)
		return answers, err
	}
	isNew, err := seen.AddString(keys[0])
	if isNew {
		answers[0] = tamis.Yes
	}
	return answers, err
}

func note(out *os.File, numbers []int, answers []tamis.Answer) error {
	var lines []byte
	for i, n := range numbers {
		if answers[i] == tamis.Yes {
			lines = append(strconv.AppendInt(lines, int64(n), 10), '\n')
		}
	}
	_, err := out.Write(lines)
	return err
}

// found tells how many keys the filter has.
func found(words []string) error {
	given, err := numbers(words[2:4])
	if err != nil {
		return err
	}
	seen, err := opened(words[0], words[1])
	if err != nil {
		return err
	}
	var keys []string
	for n := range given[1] {
		keys = append(keys, fmt.Sprint("key-", given[0]+n))
	}
	hits, err := seen.ContainsStrings(keys, nil)
	if err == nil {
		fmt.Println(hits)
	}
	return err
}
