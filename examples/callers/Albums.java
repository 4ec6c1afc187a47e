// Albums.java
import com.google.gson.Gson;
import com.google.protobuf.InvalidProtocolBufferException;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import waybook.album.v1.Album;
import waybook.album.v1.AlbumServiceGrpc;
import waybook.album.v1.ListAlbumsRequest;
import waybook.failures.Any;
import waybook.failures.ErrorInfo;
import waybook.failures.Status;

public class Albums {
  static final Metadata.Key<byte[]> DETAILS = Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  // Returns a reason such as USER_NOT_FOUND, or the status code of a failure of the transport.
  static String reason(StatusRuntimeException failed) throws InvalidProtocolBufferException {
    if (failed.getTrailers() != null && failed.getTrailers().containsKey(DETAILS)) {
      for (Any detail : Status.parseFrom(failed.getTrailers().get(DETAILS)).getDetailsList()) {
        if (detail.getTypeUrl().endsWith("/google.rpc.ErrorInfo")) {
          return ErrorInfo.parseFrom(detail.getValue()).getReason();
        }
      }
    }
    return failed.getStatus().getCode().toString();
  }

  public static void main(String[] args) throws Exception {
    Map<String, ?> config = new Gson().fromJson(Files.readString(Path.of("retries.json")), Map.class);
    ManagedChannel channel = ManagedChannelBuilder.forTarget(args[0]).usePlaintext().defaultServiceConfig(config).enableRetry()
        .keepAliveTime(30, TimeUnit.SECONDS).keepAliveTimeout(10, TimeUnit.SECONDS).build();
    try {
      AlbumServiceGrpc.AlbumServiceBlockingStub albums = AlbumServiceGrpc.newBlockingStub(channel).withCompression("gzip"); // for a slow network
      ListAlbumsRequest request = ListAlbumsRequest.newBuilder().setOwnerId(Long.parseLong(args[1])).build();
      for (Album album : albums.withDeadlineAfter(5, TimeUnit.SECONDS).listAlbums(request).getAlbumsList()) {
        System.out.println(album.getAlbumId() + " " + album.getTitle());
      }
    } catch (StatusRuntimeException failed) {
      System.err.println(reason(failed) + ": " + failed.getStatus().getDescription());
      System.exit(1);
    } finally {
      channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
    }
  }
}
