package maintenance

import "time"

// Never is a schedule that never holds, of a window that cannot be read.
func Never() *Schedule { return &Schedule{zone: time.UTC} }
