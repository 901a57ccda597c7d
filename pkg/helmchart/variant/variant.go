// Package variant renders templates of charts without chance and time.
package variant

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"
)

// A Variant replaces the template functions whose results depend on chance or time by functions of their arguments. Two
// variants return different results, so that the fields that depend on chance or time are the ones in which two renderings
// differ. The results are not secret: do not apply them. They are cheap: keys and certificates are not generated.
type Variant struct {
	name  string
	clock time.Time
	// used is set when a result depends on the variant.
	used bool
}

// First returns the first variant.
func First() *Variant {
	return &Variant{name: "first", clock: time.Date(2021, 2, 3, 4, 5, 6, 7, time.UTC)}
}

// Second returns the second variant. All parts of its time differ from the first one's, so that any format of a date does.
func Second() *Variant {
	return &Variant{name: secondVariant, clock: time.Date(2038, 11, 26, 17, 38, 49, 876543210, time.UTC)}
}

// Used reports whether a template called a function whose result depends on the variant.
func (v *Variant) Used() bool { return v.used }

const secondVariant = "second"

// certificate has the fields of the certificates of sprig.
type certificate struct{ Cert, Key string }

// Functions returns the replaced template functions.
func (v *Variant) Functions() template.FuncMap {
	functions := template.FuncMap{
		"now":        v.now,
		"ago":        func(date any) string { return v.now().Sub(v.time(date)).Round(time.Second).String() },
		"date":       func(format string, date any) string { return v.time(date).In(time.Local).Format(format) },
		"htmlDate":   func(date any) string { return v.time(date).In(time.Local).Format(time.DateOnly) },
		"dateInZone": v.dateInZone, "date_in_zone": v.dateInZone,
		"htmlDateInZone": func(date any, zone string) string { return v.dateInZone(time.DateOnly, date, zone) },

		"randAlphaNum": func(n int) string { return v.text(n, digits+letters, "randAlphaNum") },
		"randAlpha":    func(n int) string { return v.text(n, letters, "randAlpha") },
		"randNumeric":  func(n int) string { return v.text(n, digits, "randNumeric") },
		"randAscii":    func(n int) string { return v.text(n, digits+letters, "randAscii") },
		"randInt":      v.integer,
		"randBytes":    func(n int) (string, error) { return base64.StdEncoding.EncodeToString(v.bytes(n, "randBytes")), nil },
		"shuffle":      v.shuffle,
		"uuidv4": func() string {
			id := hex.EncodeToString(v.bytes(16, "uuidv4"))
			return fmt.Sprintf("%s-%s-4%s-8%s-%s", id[:8], id[8:12], id[13:16], id[17:20], id[20:])
		},
		"bcrypt": func(password string) string { return "$2a$10$" + v.text(53, digits+letters, "bcrypt", password) },
		"htpasswd": func(user, password string) string {
			return user + ":$2a$10$" + v.text(53, digits+letters, "htpasswd", password)
		},
		"encryptAES": v.encryptAES,

		"genPrivateKey": func(kind string) string { return v.pem("PRIVATE KEY", "genPrivateKey", kind) },
		"buildCustomCert": func(cert, key string) (certificate, error) {
			decodedCert, err := base64.StdEncoding.DecodeString(cert)
			if err != nil {
				return certificate{}, fmt.Errorf("unable to decode base64 certificate: %w", err)
			}
			decodedKey, err := base64.StdEncoding.DecodeString(key)
			if err != nil {
				return certificate{}, fmt.Errorf("unable to decode base64 private key: %w", err)
			}
			return certificate{string(decodedCert), string(decodedKey)}, nil
		},
	}
	for _, name := range []string{"genCA", "genSelfSignedCert", "genSignedCert"} {
		functions[name] = func(arguments ...any) (certificate, error) {
			return certificate{v.pem("CERTIFICATE", name, arguments...), v.pem("RSA PRIVATE KEY", name, arguments...)}, nil
		}
	}
	for name, key := range map[string]int{"genCAWithKey": 2, "genSelfSignedCertWithKey": 4, "genSignedCertWithKey": 5} {
		functions[name] = func(arguments ...any) (certificate, error) {
			if len(arguments) != key+1 {
				return certificate{}, fmt.Errorf("%s requires %d arguments", name, key+1)
			}
			return certificate{v.pem("CERTIFICATE", name, arguments...), fmt.Sprint(arguments[key])}, nil
		}
	}
	return functions
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// isSecond selects among results that are so few that hashes would not always distinguish them.
func (v *Variant) isSecond() int {
	v.used = true
	if v.name == secondVariant {
		return 1
	}
	return 0
}

func (v *Variant) now() time.Time {
	v.used = true
	return v.clock
}

// bytes returns n bytes that depend on the variant, a function and its arguments.
func (v *Variant) bytes(n int, function string, arguments ...any) []byte {
	v.used = true
	var result []byte
	for block := 0; len(result) < n; block++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %d %#v", v.name, function, n, block, arguments))
		result = append(result, sum[:]...)
	}
	return result[:max(n, 0)]
}

// text returns n characters of an alphabet. The variants use different halves of it for the first one.
func (v *Variant) text(n int, alphabet, function string, arguments ...any) string {
	text := v.bytes(n, function, arguments...)
	for i, b := range text {
		if i == 0 {
			half := len(alphabet) / 2
			text[i] = alphabet[v.isSecond()*half+int(b)%half]
			continue
		}
		text[i] = alphabet[int(b)%len(alphabet)]
	}
	return string(text)
}

func (v *Variant) integer(low, high int) int { return low + min(v.isSecond(), max(high-low-1, 0)) }

func (v *Variant) shuffle(text string) string {
	runes := []rune(text)
	slices.Sort(runes)
	if v.isSecond() == 1 {
		slices.Reverse(runes)
	}
	return string(runes)
}

func (v *Variant) pem(kind, function string, arguments ...any) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: v.bytes(48, function+kind, arguments...)}))
}

// time returns the time of an argument of a date function, which is the current time for unsupported types.
func (v *Variant) time(date any) time.Time {
	switch date := date.(type) {
	case time.Time:
		return date
	case *time.Time:
		return *date
	case int64:
		return time.Unix(date, 0)
	case int:
		return time.Unix(int64(date), 0)
	case int32:
		return time.Unix(int64(date), 0)
	}
	return v.now()
}

func (v *Variant) dateInZone(format string, date any, zone string) string {
	location, err := time.LoadLocation(zone)
	if err != nil {
		location = time.UTC
	}
	return v.time(date).In(location).Format(format)
}

// encryptAES encrypts as sprig does, with a fixed initialization vector, so that decryptAES reads the result.
func (v *Variant) encryptAES(password, plain string) (string, error) {
	if plain == "" {
		return "", nil
	}
	key := make([]byte, 32)
	copy(key, password)
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	content := []byte(plain + strings.Repeat(string(rune(padding)), padding))
	vector := v.bytes(aes.BlockSize, "encryptAES")
	encrypted := make([]byte, len(content))
	cipher.NewCBCEncrypter(block, vector).CryptBlocks(encrypted, content)
	return base64.StdEncoding.EncodeToString(append(vector, encrypted...)), nil
}
