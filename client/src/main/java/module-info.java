/// The Java client.
module dev.parley.client {
  requires transitive dev.parley.protocol;
  requires static org.jspecify;

  exports dev.parley.client;
}
