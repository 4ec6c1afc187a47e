import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathFactory;
import org.w3c.dom.Document;

/**
 * A legacy client in Java: adds, reads, changes, lists and deletes, and compares every
 * text with what it sent. Arguments: the address of /API.php and the cookie.
 */
public class Client {
    static final String FIRST = "東北角 🏖️👩‍👩‍👧 <b>\"R&D\"</b> ']]>' 100% a+b;c=d";
    static final String SECOND = "第二行\r\n第三行\n\ttab\rend & 𠮷野家 ]]> \u00a0\u200d é ￥";

    static final HttpClient http = HttpClient.newHttpClient();
    static String address;

    public static void main(String[] args) throws Exception {
        address = args[0];
        String cookie = args[1];
        String user = cookie.split(";")[0].substring("id=".length());

        String album = text(succeed(cookie, "func", "addAlbum", "albumTitle", FIRST, "category", "5",
                "lat", "25.034", "lng", "-121.5645"), "albumID");
        Document shown = succeed(null, "func", "getAlbum", "albumID", album);
        same(text(shown, "albumTitle"), FIRST);
        same(text(shown, "Location/lat"), "25.034");
        succeed(cookie, "func", "updateAlbum", "albumID", album, "albumTitle", SECOND);
        same(text(succeed(null, "func", "getAlbum", "albumID", album), "albumTitle"), SECOND);
        Document list = succeed(null, "func", "getUserAlbumList", "userID", user);
        same(text(list, "albumList/*[albumID='" + album + "']/albumTitle"), SECOND);
        succeed(cookie, "func", "updateAlbum", "albumID", album, "delete", "true");
        same(text(call(null, "func", "getAlbum", "albumID", album), "info"), "ALBUM NOT FOUND");

        String blog = text(succeed(cookie, "func", "postBlog", "type", "0_8", "blogTitle", FIRST, "blogContent", SECOND,
                "year", "2026", "month", "2", "day", "28", "weather", "雨過天晴", "lat", "1", "lng", "2"), "blogID");
        same(text(succeed(null, "func", "getBlog", "blogID", blog), "blogContent"), SECOND);
        succeed(cookie, "func", "updateBlog", "blogID", blog, "delete", "true");
        same(text(call(null, "func", "getBlog", "blogID", blog), "status"), "FAILED");
        System.out.println("all the same");
    }

    static Document call(String cookie, String... pairs) throws Exception {
        List<String> form = new ArrayList<>();
        for (int i = 0; i < pairs.length; i += 2) {
            form.add(pairs[i] + "=" + URLEncoder.encode(pairs[i + 1], StandardCharsets.UTF_8));
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(String.join("&", form)));
        if (cookie != null) {
            request.header("Cookie", cookie);
        }
        var reply = http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(reply.body());
    }

    static Document succeed(String cookie, String... pairs) throws Exception {
        Document reply = call(cookie, pairs);
        if (!text(reply, "status").equals("SUCCESS")) {
            throw new AssertionError(text(reply, "info"));
        }
        return reply;
    }

    static String text(Document reply, String path) throws Exception {
        return XPathFactory.newInstance().newXPath().evaluate("/response/" + path, reply);
    }

    static void same(String got, String want) {
        if (!got.equals(want)) {
            throw new AssertionError("got " + got + ", want " + want);
        }
    }
}
