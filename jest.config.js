/** @type {import('jest').Config} */
module.exports = {
	testEnvironment: './testbed/jestEnvironment.cjs',
	// Real requests in a real engine: a machine that is busy with other things must not make them fail.
	// Jest leaves one core free by default. Two cores are all that a small machine has.
	maxWorkers: '100%',
	testTimeout: 20_000,
	// Each file loads n8n's engine anew, and jest lets go of little: in one process, all of them fill its heap.
	workerIdleMemoryLimit: '1GB',
	testMatch: ['<rootDir>/test/**/*.test.mts'],
	moduleFileExtensions: ['mts', 'ts', 'js', 'mjs', 'cjs', 'json', 'node'],
	transform: {
		'\\.m?ts$': [
			'@swc/jest',
			{
				jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
				module: { type: 'commonjs', ignoreDynamic: false },
				isModule: true,
			},
		],
	},
	// The engine tests load the package as n8n does, by the paths package.json names; they get the sources
	// behind those paths, so that a test never runs against a stale build and coverage sees the real files.
	moduleNameMapper: {
		'^(.*)/dist/((?:nodes|credentials)/.*)\\.js$': '$1/$2.ts',
	},
	modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/'],
	collectCoverageFrom: ['nodes/**/*.ts', 'credentials/**/*.ts'],
	coverageProvider: 'v8',
	coverageReporters: ['text', 'text-summary'],
};
