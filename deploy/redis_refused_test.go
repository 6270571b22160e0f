package deploy_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// What a stolen password of a program does not open. Each command stands for a thing that
// its thief would like to do.
//
// Promise: each program may do in Redis only what it needs
func TestUsersOfRedisDoNoMore(t *testing.T) {
	t.Parallel()
	nobody := []string{ // may do these
		"KEYS *", "SCAN 0", "DBSIZE", "RANDOMKEY", "FLUSHALL", "FLUSHDB", "SWAPDB 0 1", "SELECT 1", "MONITOR", "CONFIG GET requirepass", "CONFIG SET maxmemory 1", "ACL LIST", "ACL SETUSER thief on nopass ~* +@all",
		"CLIENT LIST", "CLIENT KILL TYPE normal", "SHUTDOWN", "REPLICAOF 127.0.0.1 1", "MODULE LIST", "SCRIPT FLUSH", "SCRIPT KILL", "FUNCTION LIST", "SUBSCRIBE x", "PUBLISH x y", "SAVE", "BGREWRITEAOF", "LATENCY LATEST", "SLOWLOG GET",
		"GET other", "SET other x", "RENAME {pf}:checks other", "COPY {pf}:checks other", "DUMP {pf}:checks", "RESTORE {pf}:checks 0 x", "OBJECT ENCODING {pf}:checks", "MIGRATE 127.0.0.1 1 {pf}:checks 0 1", "SORT {pf}:checks", "UNLINK {pf}:checks",
		"XSETID {pf}:checks 1-1", "EXPIRE {pf}:checks 1", "DEL {pf}:dead", "XTRIM {pf}:dead MAXLEN 0", "DEL {pf}:results", "DEL {pf}:tombstones", "DEL {pf}:regions", "DEL {pf}:drains", "HGETALL {pf}:dead:meta",
		"EVAL return{redis.call('GET',KEYS[1])} 1 other", "EVAL return{redis.call('GET','other')} 0", "EVAL return{redis.call('FLUSHALL')} 0", "EVAL return{redis.call('KEYS','*')} 0",
	}
	for user, commands := range map[string][]string{
		"publisher": {
			"XADD {pf}:results * b x", "XRANGE {pf}:results - +", "XREAD STREAMS {pf}:results 0", "XADD {pf}:dead * a b", "HGET {pf}:dead:meta bytes", "HSET {pf}:dead:meta a b", "HSET {pf}:regions eu/eu-1 {}", "HSET {pf}:drains eu/eu-1 {}",
			"SET {pf}:lease:evaluator x", "DEL {pf}:lease:evaluator", "HGETALL {pf}:spools", "ZADD {pf}:adhoc:open 1 x", "XADD {pf}:adhoc:region:eu * a b", "XADD {pf}:confirm:region:eu * a b", "XRANGE {pf}:adhoc:results - +", "XGROUP SETID {pf}:checks eu 0",
		},
		"prober-eu": {
			"XADD {pf}:checks * v 1", "EVAL return{redis.call('XADD',KEYS[1],'*','v','1')} 1 {pf}:checks", "XTRIM {pf}:checks MAXLEN 0", "XDEL {pf}:checks 1-1", "DEL {pf}:checks", "XGROUP DESTROY {pf}:checks eu", "XGROUP SETID {pf}:checks eu 0",
			"XREAD STREAMS {pf}:checks 0", "HSET {pf}:clock tick 1", "HDEL {pf}:clock tick", "HSET {pf}:refused 1 1", "HSET {pf}:tombstones 1 1", "HDEL {pf}:tombstones 1", "EVAL return{redis.call('HSET',KEYS[1],'1','1')} 1 {pf}:tombstones",
			"HSET {pf}:drains eu/eu-1 {}", "HDEL {pf}:drains eu/eu-1", "HSET {pf}:spools a {}", "SET {pf}:lease:publisher x", "GET {pf}:lease:publisher", "SET {pf}:lease:evaluator x", "XADD {pf}:changes * id 1", "XREAD STREAMS {pf}:changes 0",
			"XRANGE {pf}:results - +", "XREAD STREAMS {pf}:results 0", "XREAD STREAMS {pf}:adhoc:results 0", "ZADD {pf}:adhoc:open 1 x", "ZRANGE {pf}:adhoc:open 0 -1", "XADD {pf}:adhoc:region:eu * a b", "XADD {pf}:confirm:region:eu * a b",
			"XREADGROUP GROUP probers thief STREAMS {pf}:adhoc:region:us >", "XREADGROUP GROUP probers thief STREAMS {pf}:confirm:region:us >", "XACK {pf}:adhoc:region:us probers 1-1", "XADD {pf}:adhoc:region:us * a b",
		},
		"api": {
			"XADD {pf}:checks * v 1", "EVAL return{redis.call('XADD',KEYS[1],'*','v','1')} 1 {pf}:checks", "XACK {pf}:checks eu 1-1", "XREADGROUP GROUP eu thief STREAMS {pf}:checks >", "XCLAIM {pf}:checks eu thief 0 1-1", "XTRIM {pf}:checks MAXLEN 0",
			"DEL {pf}:checks", "XGROUP DESTROY {pf}:checks eu", "XGROUP CREATE {pf}:checks thief 0", "HSET {pf}:clock tick 1", "HSET {pf}:refused 1 1", "HDEL {pf}:tombstones 1", "HSET {pf}:regions eu/eu-1 {}", "XADD {pf}:dead * a b",
			"SET {pf}:lease:publisher x", "DEL {pf}:lease:publisher", "XADD {pf}:adhoc:results * o x", "XREADGROUP GROUP probers thief STREAMS {pf}:adhoc:region:eu >", "XTRIM {pf}:results MAXLEN 0", "DEL {pf}:adhoc:open",
		},
	} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			r := newRedisUsers(t)
			client := r.client(r.URL(user))
			for _, command := range append(commands, nobody...) {
				var words []any
				for word := range strings.FieldsSeq(command) {
					words = append(words, word)
				}
				err := client.Do(t.Context(), words...).Err()
				if err == nil || !noPermission.MatchString(err.Error()) {
					t.Errorf("%s: %v", command, err)
				}
			}
		})
	}
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		r := newRedisUsers(t)
		for name, user := range map[string]*url.Userinfo{"no name": nil, "the default one": url.UserPassword("default", ""), "a guess": url.UserPassword("prober-eu", "guess"), "another's password": url.UserPassword("api", "the password of prober-eu")} {
			address, err := url.Parse(r.URL("api"))
			must(t, err)
			address.User = user
			if err := r.client(address.String()).Ping(t.Context()).Err(); err == nil {
				t.Errorf("%s gets in", name)
			}
		}
	})
}

// noPermission is how a refusal reads, of a command and of one in a script.
var noPermission = regexp.MustCompile(`^NOPERM|^ERR The user executing the script can't`)
