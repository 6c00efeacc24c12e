package dev.parley.log;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.ArtifactEvent.DataWrite;
import dev.parley.protocol.ArtifactEvent.DatasetWrite;
import dev.parley.protocol.ArtifactEvent.FileWrite;
import dev.parley.protocol.Kind;

/// What was last written to an artifact: its kind, version, next index, and whether it is whole.
public record ArtifactHead(Kind kind, int version, int nextIndex, boolean complete) {

  static ArtifactHead first(ArtifactEvent event) {
    var version = event.version() == null ? 1 : event.version();
    return new ArtifactHead(event.kind(), version, index(event) + 1, complete(event));
  }

  ArtifactHead plus(ArtifactEvent event) {
    var fresh = index(event) == 0;
    var next = event.version() == null ? version + (fresh ? 1 : 0) : event.version();
    return new ArtifactHead(event.kind(), next, index(event) + 1, complete(event));
  }

  private static int index(ArtifactEvent event) {
    return switch (event) {
      case FileWrite file -> file.index();
      case DatasetWrite rows -> rows.index();
      case DataWrite _ -> 0;
    };
  }

  private static boolean complete(ArtifactEvent event) {
    return switch (event) {
      case FileWrite file -> file.complete();
      case DatasetWrite rows -> rows.complete();
      case DataWrite _ -> true;
    };
  }
}
