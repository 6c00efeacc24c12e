/// Parley's vocabulary: events, ids, positions, rejections and their JSON.
module dev.parley.protocol {
  requires transitive org.jspecify;
  requires transitive tools.jackson.databind;

  exports dev.parley.protocol;

  opens dev.parley.protocol to
      tools.jackson.databind;
}
