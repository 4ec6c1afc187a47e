// ConnectionClient.java
import java.io.*;
import java.net.*;
import java.util.*;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;

public class ConnectionClient {
    static String url;

    static Element call(String... form) throws Exception {
        StringBuilder body = new StringBuilder();
        for (int i = 0; i < form.length; i += 2) {
            body.append(i == 0 ? "" : "&").append(form[i]).append('=').append(URLEncoder.encode(form[i + 1], "UTF-8"));
        }
        byte[] bytes = body.toString().getBytes("UTF-8");
        HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
        connection.setDoOutput(true); // makes it a POST
        connection.setFixedLengthStreamingMode(bytes.length); // sends it only once
        connection.setRequestProperty("Content-Type", "application/x-www-form-urlencoded");
        OutputStream out = connection.getOutputStream();
        out.write(bytes);
        out.close();
        InputStream in = connection.getResponseCode() < 400 ? connection.getInputStream() : connection.getErrorStream();
        Element reply = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in).getDocumentElement();
        if (!text(reply, "status").equals("SUCCESS")) throw new IOException(text(reply, "info"));
        return reply;
    }

    static String text(Element reply, String name) {
        return reply.getElementsByTagName(name).item(0).getTextContent();
    }

    public static void main(String[] args) throws Exception {
        url = args[0];
        CookieHandler.setDefault(new CookieManager());
        call("func", "login", "email", "demo@waybook.example", "password", args[1]);
        Element added = call("func", "addAlbum", "albumTitle", "台北一日", "category", "5", "lat", "25.034", "lng", "121.5645");
        long id = Long.parseLong(text(added, "albumID"));
        Element album = call("func", "getAlbum", "albumID", Long.toString(id));
        System.out.println(id + " " + text(album, "albumTitle"));
    }
}
