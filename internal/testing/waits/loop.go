package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"sync"
)

// loop gets all pages of the sitemap at a URL, 4 at once, and writes each to a file of a
// directory: a program that checks nothing, and syncs nothing.
func loop(args []string) error {
	list, dir := args[0], args[1]
	resp, err := http.Get(list)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	todo, failed := make(chan string), make(chan error, 4)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for url := range todo {
				if err := save(&client, url, filepath.Join(dir, filepath.Base(url))); err != nil {
					failed <- err
					break
				}
			}
			for range todo { // after an error
			}
		})
	}
	for _, loc := range regexp.MustCompile(`<loc>(.*?)</loc>`).FindAllSubmatch(text, -1) {
		todo <- string(loc[1])
	}
	close(todo)
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func save(client *http.Client, url, name string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err = io.Copy(f, resp.Body); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
