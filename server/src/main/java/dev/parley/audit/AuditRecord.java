package dev.parley.audit;

import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.TreeMap;
import tools.jackson.databind.node.ObjectNode;

/// An event as it is stored: numbered without gaps, and chained to the record before it.
///
/// The hash of a record is the SHA-256 of its text, which contains the hash of the record before.
///
/// @param text the record as JSON; exactly these characters are hashed
/// @param hash the hash in hex
public record AuditRecord(long number, String text, String hash) {

  /// The hash before the first record.
  public static final String NO_HASH = "0".repeat(64);

  private static final String PREVIOUS = "previous";
  private static final String NUMBER = "number";

  /// A point of the chain: the number and the hash of a record.
  public record ChainPoint(long number, String hash) {

    /// Before the first record.
    public static final ChainPoint START = new ChainPoint(0, NO_HASH);

    /// Parses `NUMBER:HASH`.
    ///
    /// @throws Rejection.Invalid if the text is something else
    public static ChainPoint parse(String text) {
      if (!text.matches("\\d{1,18}:[0-9a-f]{64}")) {
        throw new Rejection.Invalid(
            "a point of the audit trail looks like NUMBER:HASH, not " + text);
      }
      var colon = text.indexOf(':');
      return new ChainPoint(Long.parseLong(text.substring(0, colon)), text.substring(colon + 1));
    }

    @Override
    public String toString() {
      return number + ":" + hash;
    }
  }

  /// The record of an event that follows `previous`.
  static AuditRecord after(ChainPoint previous, Instant time, AuditEvent event) {
    var number = previous.number() + 1;
    var actor = event.actor();
    var json =
        Json.object()
            .put(NUMBER, number)
            .put("time", time.toString())
            .put("principal", actor.principal())
            .put("kind", actor.kind())
            .put("credential", actor.credential())
            .put("tenant", actor.tenant())
            .put("address", actor.address())
            .put("action", event.action())
            .put("target", event.target())
            .put("result", event.result().wire())
            .put("code", event.code());
    var details = json.putObject("details");
    new TreeMap<>(event.details()).forEach(details::put);
    json.put(PREVIOUS, previous.hash());
    var text = new String(Json.bytes(json), StandardCharsets.UTF_8);
    return new AuditRecord(number, text, hash(text));
  }

  /// The point of the chain at this record.
  public ChainPoint point() {
    return new ChainPoint(number, hash);
  }

  /// A line of an export: the hash, and then the text that it belongs to.
  public String line() {
    return "{\"hash\":\"" + hash + "\",\"record\":" + text + "}";
  }

  /// Parses a line of an export.
  ///
  /// @throws Rejection.Invalid if it is none
  public static AuditRecord parseLine(String line) {
    var begin = "{\"hash\":\"".length();
    var middle = begin + NO_HASH.length();
    var from = middle + "\",\"record\":".length();
    if (line.length() <= from
        || !line.endsWith("}")
        || !line.startsWith("\",\"record\":", middle)) {
      throw new Rejection.Invalid("this is not a line of an exported audit trail");
    }
    var text = line.substring(from, line.length() - 1);
    return new AuditRecord(json(text).path(NUMBER).asLong(), text, line.substring(begin, middle));
  }

  /// The fields of the record.
  public ObjectNode json() {
    return json(text);
  }

  private static ObjectNode json(String text) {
    if (Json.mapper().readTree(text) instanceof ObjectNode object) {
      return object;
    }
    throw new Rejection.Invalid("a record of the audit trail must be a JSON object");
  }

  /// Checks that this record is unchanged and follows `previous`. Empty if it does, else the reason.
  String problemAfter(ChainPoint previous) {
    if (!hash.equals(hash(text))) {
      return "record " + number + " was changed: its hash does not belong to its text";
    }
    var fields = json();
    if (fields.path(NUMBER).asLong() != number) {
      return "record " + number + " was renumbered";
    }
    if (number != previous.number() + 1) {
      return number <= previous.number()
          ? "record " + number + " is out of order: it follows record " + previous.number()
          : "records are missing between " + previous.number() + " and " + number;
    }
    return fields.path(PREVIOUS).asString("").equals(previous.hash())
        ? ""
        : "record "
            + number
            + " does not follow record "
            + previous.number()
            + ": one was replaced";
  }

  private static String hash(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException missing) {
      throw new IllegalStateException(missing);
    }
  }
}
