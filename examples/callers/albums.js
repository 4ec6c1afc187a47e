// albums.js
const fs = require('fs');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');

const failures = protobuf.loadSync('failures.proto').lookup('waybook.failures');

// reason returns a reason such as USER_NOT_FOUND, or the status code of a failure of the transport.
function reason(failed) {
  for (const status of failed.metadata.get('grpc-status-details-bin')) {
    for (const detail of failures.Status.decode(status).details) {
      if (detail.typeUrl.endsWith('/google.rpc.ErrorInfo')) {
        return failures.ErrorInfo.decode(detail.value).reason;
      }
    }
  }
  return grpc.status[failed.code];
}

// Identifiers have up to 53 bits, so a number holds them.
const contracts = grpc.loadPackageDefinition(
  loader.loadFileDescriptorSetFromBuffer(fs.readFileSync('waybook.protoset.binpb'), { keepCase: true, longs: Number }));
const albums = new contracts.waybook.album.v1.AlbumService(process.argv[2], grpc.credentials.createInsecure(), {
  'grpc.service_config': fs.readFileSync('retries.json', 'utf8'),
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.default_compression_algorithm': grpc.compressionAlgorithms.gzip, // for a slow network
});
albums.ListAlbums({ owner_id: Number(process.argv[3]) }, { deadline: Date.now() + 2000 }, (failed, reply) => {
  if (failed) {
    console.error(`${reason(failed)}: ${failed.details}`);
    process.exit(1);
  }
  for (const album of reply.albums) {
    console.log(album.album_id, album.title);
  }
  albums.close();
});
