#!/usr/bin/env bash
# Builds the image and starts all containers. The first time, it packs this commit and makes .env with new secrets. Says which build
# main and a worker have. Needs Docker, Node.js and npm. docs/queue-mode.md says how to update.
set -euo pipefail
cd "$(dirname "$0")"

if [ ! -e .env ]; then
	# The last lines are the checksum and the name.
	tarball=$(npm run --silent --prefix ../.. package | tee /dev/stderr | sed -n 's/^[0-9a-f]*  //p')
	cp "../../$tarball" .
	version=${tarball#n8n-nodes-device-management-}
	key=${N8N_ENCRYPTION_KEY:-$(openssl rand -hex 24)}
	password=$(openssl rand -hex 24)
	(
		umask 077
		sed "s/^PACKAGE=$/&${version%.tgz}/; s|^N8N_ENCRYPTION_KEY=$|&$key|; s/^POSTGRES_PASSWORD=$/&$password/" .env.example >.env
	)
fi

docker compose build main
docker compose up --detach --wait
for service in main worker; do
	docker compose exec -T "$service" npm ls --prefix /home/node/.n8n/nodes n8n-nodes-device-management
done
