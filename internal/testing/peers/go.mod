module github.com/websync-go/websync/internal/testing/peers

go 1.26.0

require (
	github.com/beevik/etree v1.8.1
	github.com/stretchr/testify v1.12.1
	github.com/tdewolff/parse/v2 v2.8.20
	github.com/websync-go/websync v0.1.0
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/text v0.43.0 // indirect
)
