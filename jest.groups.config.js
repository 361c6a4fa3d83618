const { availableParallelism } = require('node:os');
const file = require('./jest.config.js');

const groups = availableParallelism();

/**
 * What `npm test` runs: all test files, in one group for each processor. A group loads n8n's engine once.
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
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	coverageProvider: 'v8',
	coverageReporters: ['text', 'text-summary'],
};
