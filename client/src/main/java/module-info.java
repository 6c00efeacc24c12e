/// The Java client.
module dev.parley.client {
  requires java.net.http;
  requires transitive dev.parley.protocol;
  requires static org.jspecify;

  exports dev.parley.client;

  opens dev.parley.client to
      tools.jackson.databind;
}
