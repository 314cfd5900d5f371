// An adapter for Ferry's HTTP rail: copy it, and replace resume by calls of your bank. Standard library only.
//
//	export ADAPTER_SECRET="whsec_$(openssl rand -base64 32)" # the same secret as in Ferry's configuration
//	go run main.go # the adapter in Python also reports deposits and returns to Ferry
package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Payment is the answer to Ferry, and a line of the file at every change.
type Payment struct {
	Key       string `json:"key"`
	Asset     string `json:"asset"`
	Amount    string `json:"amount"` // a decimal string: never a float
	Status    string `json:"status"`
	Reference string `json:"reference"`
	Reason    string `json:"reason,omitempty"`
	Digest    string `json:"digest"` // of Ferry's request, which Ferry repeats byte for byte
}

type object map[string]string

var (
	secret   = must(base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("ADAPTER_SECRET"), "whsec_")))
	assets   = strings.Split(cmp.Or(os.Getenv("ADAPTER_ASSETS"), "USD"), ",")
	delay    = must(time.ParseDuration(cmp.Or(os.Getenv("ADAPTER_DELAY_S"), "1") + "s"))
	file     = must(os.OpenFile(cmp.Or(os.Getenv("ADAPTER_FILE"), "payments.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600))
	lock     sync.Mutex
	payments = map[string]Payment{}
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// load reads the file. A line that was cut off by a crash was never answered: it is dropped.
func load() {
	content := string(must(os.ReadFile(file.Name())))
	content = content[:strings.LastIndex(content, "\n")+1]
	for line := range strings.Lines(content) {
		var payment Payment
		must(0, json.Unmarshal([]byte(line), &payment))
		payments[payment.Key] = payment
	}
	must(0, file.Truncate(int64(len(content))))
}

// record is durable before the request is answered. The caller holds the lock.
func record(payment Payment) {
	must(file.Write(append(must(json.Marshal(payment)), '\n')))
	must(0, file.Sync())
	payments[payment.Key] = payment
}

// accept takes a payment once. The caller holds the lock.
func accept(key string, body []byte) (int, any) {
	payment := Payment{Digest: fmt.Sprintf("%x", sha256.Sum256(body))}
	known, isKnown := payments[key]
	if json.Unmarshal(body, &payment) != nil || payment.Key != key || isKnown && known.Digest != payment.Digest {
		return 409, object{"outcome": "conflict", "detail": "The key is that of another payment."}
	}
	if !isKnown {
		payment.Reference, payment.Status = rand.Text(), "pending"
		if !slices.Contains(assets, payment.Asset) {
			payment.Status, payment.Reason = "failed", payment.Asset+" cannot be paid."
		}
		record(payment)
		resume(payment)
	}
	return 200, payments[key]
}

// resume pays what is pending: call your bank here, with Reference as its idempotency key. It may run again after a crash.
func resume(payment Payment) {
	if payment.Status == "pending" {
		time.AfterFunc(delay, func() {
			lock.Lock()
			defer lock.Unlock()
			payment.Status = "completed"
			record(payment)
		})
	}
}

// isSigned checks the signature (https://www.standardwebhooks.com). Without a body, method and path are signed.
func isSigned(r *http.Request, body []byte) bool {
	if len(body) == 0 {
		body = []byte(r.Method + " " + r.RequestURI)
	}
	timestamp, mac := r.Header.Get("webhook-timestamp"), hmac.New(sha256.New, secret)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	fmt.Fprintf(mac, "%s.%s.%s", r.Header.Get("webhook-id"), timestamp, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	isRecent := err == nil && time.Since(time.Unix(seconds, 0)).Abs() <= 5*time.Minute
	return isRecent && slices.ContainsFunc(strings.Split(r.Header.Get("webhook-signature"), " "),
		func(given string) bool { return hmac.Equal([]byte(given), []byte(expected)) })
}

func answer(r *http.Request) (int, any) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil || !isSigned(r, body) {
		return 401, object{"outcome": "unauthenticated", "detail": "The signature or its timestamp is not valid."}
	}
	lock.Lock()
	defer lock.Unlock()
	key, isPayment := strings.CutPrefix(r.URL.Path, "/payments/")
	payment, isKnown := payments[key]
	switch {
	case r.URL.Path == "/health":
		return 200, object{"status": "ok"}
	case isPayment && r.Method == "PUT":
		return accept(key, body)
	case isPayment && isKnown:
		return 200, payment
	}
	return 404, object{"outcome": "not_found"}
}

func main() {
	load()
	for _, payment := range payments {
		resume(payment)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "9000"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, content := answer(r)
		w.Header().Set("content-type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(content)
	})))
}
