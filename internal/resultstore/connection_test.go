package resultstore

import (
	"context"
	"testing"
	"testing/synctest"
)

// What comes after an insert, on the connection it gave back, is not cut off by the end
// of the insert's own time.
func TestInsertLetsGoOfItsConnection(t *testing.T) {
	for name, early := range map[string]bool{"ended while it was sent": true, "ended later": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				sending, sent := untilSent(ctx)
				if early {
					cancel()
					synctest.Wait()
				}
				sent()
				cancel()
				synctest.Wait()
				if ended := sending.Err() != nil; ended != early {
					t.Errorf("ended: %v", ended)
				}
			})
		})
	}
}
