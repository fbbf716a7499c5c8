// Receives webhooks, and prints what those say that edgeward has sent.
//
// usage: EDGEWARD_WEBHOOK_SECRET=whsec_… go run ./webhook PORT
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// verify tells whether edgeward has sent this within the last five minutes; body is what came, to the byte.
func verify(secret string, header http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), timestamp, body)
	wanted := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// While a secret is being replaced there is a signature with each, and one that matches is enough.
	for _, each := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(each), []byte(wanted)) {
			return true
		}
	}
	return false
}

type notification struct {
	Event          string `json:"event"`
	PrefixListName string `json:"prefix_list_name"`
	Region         string `json:"region"`
	Status         string `json:"status"`
}

func receive(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
	var told notification
	if err != nil || !verify(os.Getenv("EDGEWARD_WEBHOOK_SECRET"), request.Header, body) || json.Unmarshal(body, &told) != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	// The same can come twice: what you do about it must do no harm then.
	fmt.Printf("%s: %s in %s: %s\n", told.Event, told.PrefixListName, told.Region, told.Status)
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: webhook PORT")
	}
	log.Fatal(http.ListenAndServe(":"+os.Args[1], http.HandlerFunc(receive)))
}
