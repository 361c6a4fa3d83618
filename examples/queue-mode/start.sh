#!/usr/bin/env bash
# The first start: packs this commit, makes .env with new secrets, builds the image, and starts all containers. Says which build
# main and a worker have. Needs Docker, Node.js and npm.
set -euo pipefail
umask 077
cd "$(dirname "$0")"
if [ -e .env ]; then
	echo "There is a file .env already, so this is not the first start. docs/queue-mode.md says how to update." >&2
	exit 1
fi

npm run --prefix ../.. package
tarball=$(ls -t ../../n8n-nodes-device-management-*.tgz | head -n 1)
cp "$tarball" .
version=$(basename "$tarball" .tgz)
sed "s/^PACKAGE=$/PACKAGE=${version#n8n-nodes-device-management-}/" .env.example |
	while IFS= read -r line; do
		# Each value that is still missing is a secret.
		case $line in *=) echo "$line$(openssl rand -hex 24)" ;; *) echo "$line" ;; esac
	done >.env

docker compose up --detach --build --wait
for service in main worker; do
	docker compose exec -T "$service" npm ls --prefix /home/node/.n8n/nodes n8n-nodes-device-management
done
