package storetest_test

import "fmt"

const (
	nameOfOpening = "Owner returns the name of this opening of the Store"
	nameOfAtMost  = "Owner returns a name of at most 30 letters and digits"
	isCertain     = "Dead reports whether it is certain that the owner of that name has ended"
)

var brokenOwners = []brokenDriver{
	{
		name:   "Dead is true for another living owner",
		breaks: isCertain,
		caught: "optional/owners",
		fault: func(d *driver) {
			d.dead = func(owner string) bool { return owner != "" && owner != d.owner() }
		},
	},
	{
		name:   "Dead is true for the owner itself",
		breaks: isCertain,
		caught: "optional/owners",
		fault: func(d *driver) {
			d.dead = func(owner string) bool { return owner == d.owner() || d.soundDead(owner) }
		},
	},
	{
		name:   "Dead is true for no name",
		breaks: "Owner returns \"\" if others can't detect whether it has ended",
		caught: "optional/owners",
		fault: func(d *driver) {
			d.dead = func(owner string) bool { return owner == "" || d.soundDead(owner) }
		},
	},
	{
		name:   "Dead is false for an owner that has ended",
		breaks: "Owner returns \"\" if others can't detect whether it has ended",
		caught: "optional/owners",
		fault:  func(d *driver) { d.dead = func(string) bool { return false } },
	},
	{
		name:   "Dead knows only the last owner that has ended",
		breaks: "Owner returns \"\" if others can't detect whether it has ended",
		caught: "optional/owners",
		fault: func(d *driver) {
			d.dead = func(owner string) bool {
				for number := d.m.count(); number > 0; number-- {
					if name := ownerName(number); d.soundDead(name) {
						return name == owner
					}
				}
				return false
			}
		},
	},
	{
		name:   "an opening that was there before does not know that another has ended",
		breaks: "Owner returns \"\" if others can't detect whether it has ended",
		caught: "optional/owners",
		fault: func(d *driver) {
			d.dead = func(owner string) bool {
				later := false
				for number := d.number + 1; number <= d.m.count(); number++ {
					later = later || owner == ownerName(number)
				}
				return !later && d.soundDead(owner)
			}
		},
	},
	{
		name:   "when an owner ends, all that were opened before it are Dead",
		breaks: isCertain,
		caught: "optional/owners",
		fault: func(d *driver) {
			d.dead = func(owner string) bool {
				before := false
				for number := d.m.count(); number > 0; number-- {
					if before = before || d.soundDead(ownerName(number)); before && owner == ownerName(number) {
						return true
					}
				}
				return false
			}
		},
	},
	{
		name:   "Owner has 31 letters",
		breaks: nameOfAtMost,
		caught: "optional/owners",
		fault: func(d *driver) {
			d.naming = func(number int) string { return fmt.Sprintf("%031d", number) }
		},
	},
	{
		name:   "Owner has a hyphen",
		breaks: nameOfAtMost,
		caught: "optional/owners",
		fault: func(d *driver) {
			d.naming = func(number int) string { return fmt.Sprintf("opening-%d", number) }
		},
	},
	{
		name:   "Owner is the same for all openings",
		breaks: nameOfOpening,
		caught: "optional/owners",
		fault:  func(d *driver) { d.owner = func() string { return ownerName(1) } },
	},
	{
		name:   "Owner is the same after a Reopen",
		breaks: nameOfOpening,
		caught: "optional/owners",
		fault: func(d *driver) {
			name := ownerName(len(d.m.living()))
			d.owner = func() string { return name }
			d.dead = func(owner string) bool {
				for _, o := range d.m.living() {
					if o.owner() == owner {
						return false
					}
				}
				return d.soundDead(owner)
			}
		},
	},
	{
		name:   "Owner is another one at each call",
		breaks: nameOfOpening,
		caught: "optional/owners",
		fault: func(d *driver) {
			calls := 0
			d.owner = func() string {
				d.m.mu.Lock()
				defer d.m.mu.Unlock()
				calls++
				return fmt.Sprintf("%scall%d", d.soundOwner(), calls)
			}
		},
	},
}
