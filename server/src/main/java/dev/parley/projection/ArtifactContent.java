package dev.parley.projection;

import dev.parley.log.EventLog;
import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactView;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import java.io.ByteArrayOutputStream;

/// Reads the bytes of an artifact's chunks from the log, up to the first missing chunk.
final class ArtifactContent {

  /// The largest artifact that can be read, in bytes.
  static final int SIZE_MAX = 64 << 20;

  private final ArtifactView artifact;
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private String carry = "";
  private int nextIndex;

  private ArtifactContent(ArtifactView artifact) {
    this.artifact = artifact;
  }

  /// @throws Rejection.TooLarge if the artifact is larger than [#SIZE_MAX]
  static byte[] read(EventLog log, ContextId context, ArtifactView artifact) {
    if (artifact.size() > SIZE_MAX) {
      throw new Rejection.TooLarge(
          "artifact-too-large", "artifacts of up to " + SIZE_MAX + " bytes can be read");
    }
    var content = new ArtifactContent(artifact);
    var after = Position.of(artifact.firstSeq() - 1);
    while (after.seq() < artifact.lastSeq()) {
      var entries = log.read(context, after, ViewUpdater.PAGE);
      if (entries.isEmpty()) {
        break;
      }
      for (var entry : entries) {
        var seq = entry.position().seq();
        if (entry.event() instanceof ArtifactEvent event
            && seq >= artifact.firstSeq()
            && seq <= artifact.lastSeq()) {
          content.add(event);
        }
      }
      after = entries.getLast().position();
    }
    return content.bytes.toByteArray();
  }

  private void add(ArtifactEvent event) {
    if (event.artifactId().equals(artifact.artifactId())
        && (event.version() == null || event.version() == artifact.version())
        && ArtifactChunk.index(event) == nextIndex) {
      ArtifactChunk.of(event, artifact.encoding(), carry)
          .ifPresent(
              artifactChunk -> {
                artifactChunk.writeTo(bytes);
                carry = artifactChunk.carry();
                nextIndex++;
              });
    }
  }
}
