package checkstream

import (
	"embed"
	"fmt"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts are sent by hash and, when Redis does not know one (a restart), in full.
type scripts struct {
	clock, raise, publish, skip *redis.Script
	groups, trim, prune         *redis.Script
	expired, take, renew        *redis.Script
	forget, beat, leave, load   *redis.Script
	spool, tombstone            *redis.Script
	dead, ask, replays, remove  *redis.Script
	tally                       *redis.Script

	visitAdd, visitTake, visitSettle *redis.Script
}

func loadScripts() *scripts {
	prelude := source("prelude")
	script := func(name string) *redis.Script { return redis.NewScript(prelude + source(name)) }
	letters := source("letters")
	aboutLetters := func(name string) *redis.Script { return redis.NewScript(prelude + letters + source(name)) }
	return &scripts{
		clock: script("clock"), raise: script("raise"), publish: script("publish"), skip: script("skip"),
		groups: script("groups"), trim: script("trim"), prune: script("prune"),
		expired: script("expired"), take: script("take"), renew: script("renew"),
		forget: script("forget"), beat: script("beat"), leave: script("leave"), load: script("load"),
		spool: script("spool"),
		dead:  aboutLetters("dead"), ask: aboutLetters("ask"), replays: aboutLetters("replays"), remove: aboutLetters("remove"),
		tombstone: aboutLetters("tombstone"), tally: script("tally"),
		visitAdd: script("visit_add"), visitTake: script("visit_take"), visitSettle: script("visit_settle"),
	}
}

func source(name string) string {
	text, err := luaFiles.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(fmt.Sprintf("the program was built without its script %s: %v", name, err))
	}
	return string(text)
}
