package testbackend

import (
	"fmt"
	"net/url"
	"sync"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// Serve starts a PostgreSQL and a ClickHouse for several test binaries: started with env, they
// share these servers instead of starting one each. stop ends the servers.
//
// The caller must call embedded.MaybeRunChild before anything else.
func Serve() (env []string, stop func(), err error) {
	shared.mu.Lock()
	shared.ran = true
	shared.mu.Unlock()
	var (
		postgres    *postgresHost
		click       *embedded.ClickHouse
		postgresErr error
		clickErr    error
		starting    sync.WaitGroup
	)
	starting.Go(func() { postgres, postgresErr = shared.postgres.get(startPostgresHost) })
	starting.Go(func() {
		if click, clickErr = startClickHouse(embedded.Options{MaxMemory: 4 << 30}); clickErr == nil {
			atExit(click.Kill)
		}
	})
	starting.Wait()
	for what, err := range map[string]error{"postgres": postgresErr, "clickhouse": clickErr} {
		if err != nil {
			stopAll()
			return nil, nil, fmt.Errorf("%s for tests: %w", what, err)
		}
	}
	over, err := url.Parse(click.HTTPURL())
	if err != nil {
		stopAll()
		return nil, nil, err
	}
	native, err := url.Parse(click.URL())
	if err != nil {
		stopAll()
		return nil, nil, err
	}
	query := native.Query()
	query.Set("http_port", over.Port())
	native.RawQuery = query.Encode()
	return []string{"TEST_DATABASE_URL=" + postgres.URL(), "TEST_CLICKHOUSE_URL=" + native.String()}, stopAll, nil
}
