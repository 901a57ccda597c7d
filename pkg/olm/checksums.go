package olm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	crdsFile = "crds.yaml"
	olmFile  = "olm.yaml"
)

// Checksums are the SHA-256 digests of the files of a release, in hexadecimal.
type Checksums struct{ CRDs, OLM string }

// ParseChecksums parses the format of String.
func ParseChecksums(text string) (*Checksums, error) {
	c := &Checksums{}
	for part := range strings.SplitSeq(text, ",") {
		file, digest, _ := strings.Cut(part, "=")
		if raw, err := hex.DecodeString(digest); err != nil || len(raw) != sha256.Size {
			return nil, errChecksums()
		}
		switch file {
		case crdsFile:
			c.CRDs = strings.ToLower(digest)
		case olmFile:
			c.OLM = strings.ToLower(digest)
		default:
			return nil, errChecksums()
		}
	}
	if c.CRDs == "" || c.OLM == "" {
		return nil, errChecksums()
	}
	return c, nil
}

func errChecksums() error {
	return fmt.Errorf("must be %s=DIGEST,%s=DIGEST with SHA-256 digests in hexadecimal", crdsFile, olmFile)
}

// String formats the checksums as a value of the flag --sha256.
func (c Checksums) String() string { return crdsFile + "=" + c.CRDs + "," + olmFile + "=" + c.OLM }

// checksumError reports that a file of a release is not the one that is pinned.
type checksumError struct{ Version, File, Got, Want string }

func (e *checksumError) Error() string {
	return fmt.Sprintf("OLM %s: %s has the SHA-256 digest %s, but %s is pinned; the file was changed or damaged: find out why before pinning another digest with --sha256",
		e.Version, e.File, e.Got, e.Want)
}

// verify compares the release's checksums with the pinned ones, or with the published ones if pinned is nil.
func (r *Release) verify(pinned *Checksums) error {
	if known, ok := publishedChecksums()[r.Version]; ok && pinned == nil {
		pinned = &known
	}
	if pinned == nil {
		return nil
	}
	r.Pinned = true
	if r.Checksums.CRDs != pinned.CRDs {
		return &checksumError{Version: r.Version, File: crdsFile, Got: r.Checksums.CRDs, Want: pinned.CRDs}
	}
	if r.Checksums.OLM != pinned.OLM {
		return &checksumError{Version: r.Version, File: olmFile, Got: r.Checksums.OLM, Want: pinned.OLM}
	}
	return nil
}

// publishedChecksums returns the checksums of releases, by their versions.
//
// They were computed from the copies of the published files that operator-sdk embeds, which its script
// hack/generate/olm_bindata.sh downloads: all versions of internal/bindata/olm/manifests.go in its history, which agree on
// every release. Up to 0.18.3, the history of deploy/upstream/quickstart in OLM's repository has the same bytes. The files of
// later releases are rendered with the digests of images when a release is published, and cannot be rendered again, so
// that releases of which operator-sdk never had a copy are not listed.
func publishedChecksums() map[string]Checksums {
	return map[string]Checksums{
		"v0.31.0": {"96d831e70a73bf45ce3cda0dd3355df8d4fd97484bf6e6980e3d8b201571a1ee", "1ec13ac6ff99efb7bcdb38c1be85812cfa1b0fb6f97e616fc995aa38d1ece690"},
		"v0.30.0": {"1c54798fbb33256d8a53f615cd44236a02c3c59bd24362a998a2fe9d81cef4f8", "0970936a068667573e4021043ea713bfd530a2369d62c714395430a5561d41bf"},
		"v0.28.0": {"bac6ac8812e4113675a0c5b47c2ea53250c5736179e0072fb65dcf9355a88341", "08be45b5a68461e7320020d6d33db09fd17e44858db2b7422ea1b9777c2a3919"},
		"v0.27.0": {"9ab188f4a9d217c2c90114e9a829c4154869fee79c0e28317661d70d3b7ba664", "af2f47d4cf72d3f4ba06fb579c8b6a5da7a3f65304b01e7550668e695c75fd9e"},
		"v0.26.0": {"f82d69cc94ac02d3a12b19dd30af63c05aa8c2455b54d72fb8530cb4cd70fb6c", "f93a1b83c9e035ab4d334e70f9f4496549752786ae38919f4061e44bdddae510"},
		"v0.25.0": {"6a44741315c12ee653c7579a33c26efb9fd1479e092158dcb443e64f456ac128", "e5d626f8deb28548d33125608454bbc24b0aaf1c4da4c1ef75ad085a2bd2d767"},
		"v0.24.0": {"d5336ff6da24b317aba9fa201196764557c09697c3e24c127c7ce9ece12d9368", "e6e515d0d59bc0bd2875c00c1817e275dd2407c301b75e2f70cbb85c1443576f"},
		"v0.23.1": {"d5336ff6da24b317aba9fa201196764557c09697c3e24c127c7ce9ece12d9368", "357ef4acd2271f55ebf49c1e80dc4c83d07dd244fff4f95726b04476c925f796"},
		"v0.22.0": {"d5728bf598580134409aa08ba60524ecefc4838c714b195e06eeaa3b2760af02", "5ae38b0d32d8fff98ccd1af09ea17b08b18b3db1accc8349914b0ea7a0d59542"},
		"v0.21.2": {"fe84f9bf4dadd7eaeffcf72c7d62472374c9e142a2f2abe3ffe0fe1b3a1b0cb5", "034da2d1a0567b11ccba7f00b72ac656357396856396105cd09f43183e5dbb47"},
		"v0.20.0": {"b3041ba41aae1d3de393a8b92eff6bf2725dc5232bf6ba7c41c3763e72ac60ff", "e9c4d05fd1c565ef68e63878a880d44ad2cfb17173ea0e87794b8426897e7786"},
		"v0.19.1": {"756526d7e6e26258b8407909f2884de86f1ef491a032c6041741f2e1483d75ac", "c59c18e925369e817f6801bcd4bb3f7537039fe30987dc094171d567b8e99f40"},
		"v0.18.3": {"d6d58e5d0449f98d36baaa1f5d94a2dff4de220b9111e6abdf780d3093bc6463", "327db0105a2ff1b7061ec5ba45cac7ea06efb6647813b584da73f00c27939b90"},
		"v0.18.2": {"df47d3d67714ff1d54799529578882923f6dc2ee188dcb14481e15dd143551c6", "5635e427010eea603e49a72dd32e665027ce618c7d458d0aad4b924e15e31706"},
		"v0.18.1": {"df47d3d67714ff1d54799529578882923f6dc2ee188dcb14481e15dd143551c6", "9bc43ffc71603a0399752a471a1c9a4e2a2c6f0c4b612af5b630902a7d3552bc"},
		"v0.18.0": {"df47d3d67714ff1d54799529578882923f6dc2ee188dcb14481e15dd143551c6", "c8a9db3f179660cff37e1e11ba477621f104b567eaef0863433e85e6d97d84dd"},
		"v0.17.0": {"3cd928fc849089e2cae249aac073f9c719bf4a9417554ec62939f70444ac7641", "e55233a64f5ba3ddd716f009a5b86a90f9c2459957e131d1d8e23e8e856724dd"},
		"0.16.1":  {"adc6beedc517aab76909ff5f8c18bdf9d8e68c0da3fa627f41dfce957484c4c3", "6faec054903092b4416855506a95ee1bb4c8134539282af3f11c3ab7f8c46ae9"},
		"0.15.1":  {"52446fec8f7f9b6a29e9ad26b1df4eb2b5b7f31d86c580c97b03bd03b59e8d5a", "7e8adfb394e1f605908b7cd4179a99878e1e2640f4e5ed7bd62fb8f30dfd10bc"},
		"0.14.1":  {"f68ae6741c72db796d55739c47d7891e83ae529042c4283b020796f74ebba18b", "b0f62ff766b536b44071c27e7da0db48cdf17d0f01377fbfcbb875632d02e690"},
		"0.13.0":  {"2cdc36ec1a79e7c05eaeca64a56bd77e77cbdfc573157a4061d5189fec18eaa6", "6fcb421bb535a5a1577685a6957af57d48846a75838a0a73c1cff73080b363fe"},
		"0.12.0":  {"b890f4607620026340094c40877716bf23256d5a4c2f2ab2fd184aaeb5bebb18", "2bd6c2f95f782c6cb623a6e6555e9c81bc25bd2d761cc1b2a877087bf3bfa793"},
	}
}
