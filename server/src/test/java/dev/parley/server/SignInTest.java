package dev.parley.server;

import static dev.parley.server.InboxTest.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.EncryptionMethod;
import com.nimbusds.jose.JWEAlgorithm;
import com.nimbusds.jose.JWEHeader;
import com.nimbusds.jose.JWEObject;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDHEncrypter;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.sun.net.httpserver.HttpServer;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;

/// People give keys to tasks that ask for them, and nobody else gets to see them.
@Timeout(120)
class SignInTest {

  private static final String SECRET = "canary-secret-4711";
  private static final long FAR = 4_000_000_000L;

  @TempDir Path folder;

  private final Leaks leaks = new Leaks();

  @AfterEach
  void close() {
    leaks.close();
  }

  @Test
  void s5_38_a_key_is_shown_to_its_host_and_to_nobody_else() throws Exception {
    var shown = new CopyOnWriteArrayList<String>();
    var host = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    host.createContext(
        "/",
        exchange -> {
          shown.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    host.start();
    var place = "127.0.0.1:" + host.getAddress().getPort();
    try (var site = Site.durable(folder, Site.Wish.USUAL, "privateHosts: [\"127.0.0.1\"]\n")) {
      var person = new Person(site, leaks);
      var context = person.say("c", "sign in to " + place);
      var asked = person.await(context, "auth-required");
      assertThat(asked.path("authType").asString()).isEqualTo("api-key");
      assertThat(asked.at("/metadata/encryptionKey/crv").asString()).isEqualTo("P-256");
      assertThat(asked.at("/metadata/encryptionKey").has("d")).isFalse();

      var answer = person.signIn(context, asked.path("authId").asString(), "credential", SECRET);

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      var completed = person.await(context, "auth-completed");
      assertThat(completed.path("userId").asString()).isEqualTo("local");
      person.await(context, "task-complete");
      fetch(person, place);
      assertThat(shown).containsExactly("Bearer " + SECRET);
      readAll(person, context);
    } finally {
      host.stop(0);
    }
    leaks.check(folder, SECRET);
  }

  private static void fetch(Person person, String place) {
    var context = person.say("d", "fetch http://" + place + "/");
    var done =
        person.await(
            context,
            event -> {
              if (event.path("kind").asString().equals("input-required")) {
                person.answer(context, event.path("inputId").asString(), BooleanNode.TRUE);
              }
              return event.path("kind").asString().equals("tool-complete");
            });
    assertThat(done.path("success").asBoolean()).as(done.toString()).isTrue();
  }

  /// Everything that can be read of a context goes to the leaks.
  private static void readAll(Person person, ContextId context) {
    person.get("/api/contexts/" + context + "/events?internal=true&limit=1000");
    person.get("/api/contexts/" + context + "/snapshot");
    person.get("/api/inbox");
    person.get("/metrics");
  }

  @Test
  void s5_38_a_credential_may_come_encrypted_with_the_key_of_the_request() throws Exception {
    try (var site = Site.durable(folder, Site.Wish.USUAL)) {
      var person = new Person(site, leaks);
      var context = person.say("c", "sign in to example.org");
      var asked = person.await(context, "auth-required");
      var auth = asked.path("authId").asString();
      var good = claims(context, auth);

      for (var bad :
          List.of(
              "nonsense",
              jwe(key(asked), good.deepCopy().put("authId", "other")),
              jwe(key(asked), good.deepCopy().put("contextId", "other")),
              jwe(key(asked), good.deepCopy().put("exp", 1)),
              jwe(key(asked), good.deepCopy().without("exp")),
              jwe(key(asked), good.deepCopy().put("credential", "")),
              jwe(key(asked), good.deepCopy().put("credential", SECRET + "\n")),
              jwe(new ECKeyGenerator(Curve.P_256).generate().toPublicJWK(), good),
              jwe(key(asked), good).replaceFirst(".$", "!"))) {
        assertProblem(person.signIn(context, auth, "jwe", bad), 400, "invalid-credential");
      }
      var both = Json.object().put("credential", SECRET).put("jwe", "x");
      assertProblem(person.post("/api/contexts/c/auths/" + auth, both), 400, "invalid");
      assertThat(person.json("/api/inbox").path("items")).hasSize(1);

      var answer = person.signIn(context, auth, "jwe", jwe(key(asked), good));

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      person.await(context, "task-complete");
      assertProblem(person.signIn(context, auth, "jwe", jwe(key(asked), good)), 409, "not-wanted");
      assertProblem(person.signIn(context, "other", "credential", SECRET), 404, "not-found");
      readAll(person, context);
    }
    leaks.check(folder, SECRET);
  }

  @Test
  void s5_32_a_sign_in_and_its_key_survive_a_restart() throws Exception {
    JsonNode asked;
    ContextId context;
    try (var site = Site.durable(folder, Site.Wish.USUAL)) {
      var person = new Person(site, leaks);
      context = person.say("c", "sign in to example.org");
      asked = person.await(context, "auth-required");
      person.await(context, event -> event.path("status").asString("").equals("waiting-auth"));
    }
    try (var site = Site.durable(folder, Site.Wish.USUAL)) {
      var person = new Person(site, leaks);
      var auth = asked.path("authId").asString();
      assertThat(person.json("/api/inbox").at("/items/0/authId").asString()).isEqualTo(auth);

      var answer = person.signIn(context, auth, "jwe", jwe(key(asked), claims(context, auth)));

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      person.await(context, "task-complete");
    }
    leaks.check(folder, SECRET);
  }

  @Test
  void a_secret_that_comes_in_clear_or_in_a_body_that_does_not_fit_is_refused_unseen()
      throws Exception {
    try (var site = Site.durable(folder, Site.Wish.USUAL)) {
      var person = new Person(site, leaks);
      var context = person.say("c", "sign in to example.org");
      var auth = person.await(context, "auth-required").path("authId").asString();
      var path = "/api/contexts/c/auths/" + auth;
      var body = Json.object().put("credential", SECRET);

      assertProblem(person.post(path, body, "X-Forwarded-Proto", "http"), 400, "not-confidential");
      for (var broken :
          List.of(
              "{\"credential\":\"" + SECRET,
              "{\"credential\":[\"" + SECRET + "\"]}",
              "{\"credential\":{\"" + SECRET + "\":1}}",
              "{\"credential\":\"" + SECRET + "\\u0007\"}",
              "[\"" + SECRET + "\"]")) {
        var answer = site.post(path, broken);
        leaks.hear(answer.body());
        assertThat(answer.statusCode()).isEqualTo(400);
      }
      var resume = Json.object();
      resume.putArray("credentials").addObject().put("authId", "x").put("credential", SECRET);
      assertProblem(person.post("/api/contexts/c/resume", resume), 404, "not-found");

      var answer = person.post(path, body, "X-Forwarded-Proto", "https", "Idempotency-Key", "k");

      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
      assertThat(person.post(path, body, "Idempotency-Key", "k").body()).isEqualTo(answer.body());
      person.await(context, "task-complete");
      readAll(person, context);
    }
    leaks.check(folder, SECRET);
  }

  @Test
  void of_people_who_sign_in_at_the_same_time_one_is_taken() throws Exception {
    try (var site = Site.durable(folder, Site.Wish.USUAL)) {
      var person = new Person(site, leaks);
      var context = person.say("c", "sign in to example.org");
      var auth = person.await(context, "auth-required").path("authId").asString();
      var racers = new ArrayList<Callable<Integer>>();
      for (var i = 0; i < 4; i++) {
        racers.add(() -> person.signIn(context, auth, "credential", SECRET).statusCode());
      }

      var codes = new ArrayList<Integer>();
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (var done : threads.invokeAll(racers)) {
          codes.add(done.get());
        }
      }

      assertThat(codes).containsExactlyInAnyOrder(202, 409, 409, 409);
    }
  }

  @Test
  void s5_39_a_sign_in_that_nobody_makes_lapses() throws Exception {
    try (var site = Site.durable(folder, Site.Wish.USUAL, "limits: {inputTimeout: 200ms}\n")) {
      var person = new Person(site, leaks);
      var context = person.say("c", "sign in to example.org");
      var auth = person.await(context, "auth-lapsed").path("authId").asString();

      person.await(context, "task-complete");
      assertProblem(person.signIn(context, auth, "credential", SECRET), 409, "not-wanted");
      assertThat(person.json("/api/inbox").path("items")).isEmpty();
    }
  }

  private static ObjectNode claims(ContextId context, String auth) {
    return Json.object()
        .put("authId", auth)
        .put("contextId", context.value())
        .put("exp", FAR)
        .put("credential", SECRET);
  }

  private static ECKey key(JsonNode asked) throws Exception {
    return ECKey.parse(asked.at("/metadata/encryptionKey").toString());
  }

  private static String jwe(ECKey key, JsonNode claims) throws Exception {
    var header = new JWEHeader(JWEAlgorithm.ECDH_ES, EncryptionMethod.A256GCM);
    var jwe = new JWEObject(header, new Payload(claims.toString()));
    jwe.encrypt(new ECDHEncrypter(key));
    return jwe.serialize();
  }
}
