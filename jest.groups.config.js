const { availableParallelism } = require('node:os');
const file = require('./jest.config.js');

const groups = availableParallelism();
/** Whether the command names files or folders, like `npm test -- test/core`. */
const isPart = process.argv.some((argument) => /^test[\\/]/.test(argument));

/**
 * What `npm test` runs: the named files, or all test files in one group for each processor. A group loads n8n's engine once.
 * @type {import('jest').Config}
 */
module.exports = {
	...(isPart ? file : { projects: Array.from({ length: groups }, groupOf), testTimeout: file.testTimeout }),
	// Jest leaves one core free by default. Two cores are all that a small machine has.
	maxWorkers: '100%',
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	coverageProvider: 'v8',
	coverageReporters: ['text', 'text-summary'],
};

function groupOf(_, number) {
	return {
		...file,
		displayName: `${number + 1}/${groups}`,
		testMatch: ['<rootDir>/test/group.mts'],
		globals: { GROUP: { number, of: groups } },
	};
}
