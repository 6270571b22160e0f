package httpapi

import (
	"net/http"
	"strconv"
	"strings"
)

// takesGzip says whether an answer is to be compressed (RFC 9110 §12.5.3): the caller takes
// gzip, and does not like what is not compressed better.
func takesGzip(header http.Header) bool {
	weights := map[string]float64{}
	for part := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		if coding == "x-gzip" {
			coding = "gzip"
		}
		weights[coding] = weight(parameters)
	}
	rest, others := weights["*"]
	packed, named := weights["gzip"]
	if !named {
		packed = rest
	}
	plain, named := weights["identity"]
	if !named && others {
		plain = rest
	}
	return packed > 0 && packed >= plain
}

// weight is the q of a coding: 1 when there is none, 0 when it is none.
func weight(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}
