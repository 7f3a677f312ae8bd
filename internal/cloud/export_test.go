package cloud

import "time"

// Impatient lets the reads of Made follow one another without pauses.
func Impatient(a Account) { a.clients.pause = time.Millisecond }
