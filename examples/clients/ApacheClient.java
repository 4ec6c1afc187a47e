// ApacheClient.java
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.http.NameValuePair;
import org.apache.http.client.config.*;
import org.apache.http.client.entity.UrlEncodedFormEntity;
import org.apache.http.client.methods.*;
import org.apache.http.impl.client.*;
import org.apache.http.message.BasicNameValuePair;
import org.w3c.dom.Element;

public class ApacheClient {
    static final CloseableHttpClient http = HttpClients.createDefault();
    static String url;

    static Element call(String... form) throws Exception {
        List<NameValuePair> pairs = new ArrayList<NameValuePair>();
        for (int i = 0; i < form.length; i += 2) pairs.add(new BasicNameValuePair(form[i], form[i + 1]));
        HttpPost post = new HttpPost(url);
        post.setEntity(new UrlEncodedFormEntity(pairs, StandardCharsets.UTF_8)); // the default is ISO-8859-1
        try (CloseableHttpResponse response = http.execute(post)) {
            Element reply = DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(response.getEntity().getContent()).getDocumentElement();
            if (!text(reply, "status").equals("SUCCESS")) throw new IOException(text(reply, "info"));
            return reply;
        }
    }

    static String text(Element reply, String name) {
        return reply.getElementsByTagName(name).item(0).getTextContent();
    }

    public static void main(String[] args) throws Exception {
        url = args[0];
        call("func", "login", "email", "demo@waybook.example", "password", args[1]);
        Element added = call("func", "addAlbum", "albumTitle", "台北一日", "category", "5", "lat", "25.034", "lng", "121.5645");
        long id = Long.parseLong(text(added, "albumID"));
        Element album = call("func", "getAlbum", "albumID", Long.toString(id));
        System.out.println(id + " " + text(album, "albumTitle"));
    }
}
