// Run by watchdog.test.mts alone: its name doesn't end in .test.mts.
test('loops over settled promises', async () => {
	for (;;) await Promise.resolve();
});
