const file = require('./jest.config.js');

const groups = 4;

/**
 * What `npm test` runs: all test files, in a few groups that load n8n's engine once each.
 * @type {import('jest').Config}
 */
module.exports = {
	projects: Array.from({ length: groups }, (_, number) => ({
		...file,
		displayName: `${number + 1}/${groups}`,
		testMatch: ['<rootDir>/test/group.mts'],
		globals: { GROUP: { number, of: groups } },
	})),
	testTimeout: file.testTimeout,
	// Jest leaves one core free by default. Two cores are all that a small machine has.
	maxWorkers: '100%',
	// Jest releases little of a group's memory, so the next group gets a new process.
	workerIdleMemoryLimit: '1GB',
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	coverageProvider: 'v8',
	coverageReporters: ['text', 'text-summary'],
};
