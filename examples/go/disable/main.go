// Takes an address out of service for four hours, and waits until all routers have it.
//
// usage: EDGEWARD_URL=https://edgeward.example.net EDGEWARD_TOKEN=edw_… go run ./disable ADDRESS
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Counts come as text, because they were asked for so: a /64 has more addresses than an int64 holds, and encoding/json
// refuses a whole answer for one such number. math/big reads them.
type subnets struct {
	Data []struct {
		ID     int    `json:"id"`
		CIDR   string `json:"cidr"`
		Counts struct {
			Total    string `json:"total"`
			Disabled string `json:"disabled"`
			Pending  string `json:"pending"`
		} `json:"ip_counts"`
	} `json:"data"`
}

type pending struct {
	Meta struct {
		PendingChanges string `json:"pending_changes"`
	} `json:"meta"`
}

type changed struct {
	Data struct {
		Address string `json:"address"`
		Status  string `json:"status"`
	} `json:"data"`
}

var client = http.Client{Timeout: 90 * time.Second}

// ask reads an answer into `into`. After 429 and 503 it asks again when the server says so: the same call twice changes nothing.
func ask(method, path string, body, into any) error {
	for {
		var sent bytes.Buffer
		if body != nil {
			if err := json.NewEncoder(&sent).Encode(body); err != nil {
				return err
			}
		}
		request, err := http.NewRequest(method, os.Getenv("EDGEWARD_URL")+"/api/v1"+path, &sent)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("EDGEWARD_TOKEN"))
		request.Header.Set("Accept", "application/json;numbers=string")
		request.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		wait, err := read(answer, into)
		if err != nil || wait == 0 {
			return err
		}
		time.Sleep(wait)
	}
}

// read gives how long to wait before the same is asked again; 0: it was answered.
func read(answer *http.Response, into any) (time.Duration, error) {
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		return 0, json.NewDecoder(answer.Body).Decode(into)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
		if err != nil {
			seconds = 5
		}
		return time.Duration(seconds) * time.Second, nil
	default:
		var problem struct {
			Message string `json:"message"`
		}
		if err := json.NewDecoder(answer.Body).Decode(&problem); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("%d: %s", answer.StatusCode, problem.Message)
	}
}

// waitUntilDeployed asks questions that wait at the server for up to half a minute, so that two requests a minute are spent.
func waitUntilDeployed(subnetID int) error {
	for {
		var left pending
		path := fmt.Sprintf("/subnets/%d/pending?view=ranges&wait=PT30S", subnetID)
		if err := ask(http.MethodGet, path, nil, &left); err != nil {
			return err
		}
		if left.Meta.PendingChanges == "0" {
			return nil
		}
	}
}

func run(address string) error {
	var done changed
	body := map[string]string{"ip": address, "until": "PT4H", "reason": "under attack", "ticket": "NET-4711"}
	if err := ask(http.MethodPost, "/ips/disable", body, &done); err != nil {
		return err
	}
	fmt.Printf("%s is %s\n", done.Data.Address, done.Data.Status)
	var listed subnets
	if err := ask(http.MethodGet, "/subnets", nil, &listed); err != nil {
		return err
	}
	for _, subnet := range listed.Data {
		fmt.Printf("%s: %s of %s disabled\n", subnet.CIDR, subnet.Counts.Disabled, subnet.Counts.Total)
		if subnet.Counts.Pending == "0" {
			continue
		}
		if err := waitUntilDeployed(subnet.ID); err != nil {
			return err
		}
	}
	fmt.Println("all routers have it")
	return nil
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: disable ADDRESS")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
